"""The process tree on its real stores, with one small role that a test can end as it likes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil
import pytest
from redis.asyncio import Redis

from nextlevel.errors import AlreadyRunning, Misconfigured
from nextlevel.ops.up.parts import RoleSpec
from nextlevel.ops.up.tree import environment, running
from nextlevel.settings import Endpoints, Settings, load
from tests.support import stores
from tests.support.ports import free_port

ROLES = (RoleSpec("serve", "tests.support.health", niceness=10),)


@pytest.fixture
def settings(data_dir: Path) -> Settings:
    return load(data_dir=data_dir, serve_port=free_port())


@dataclass(frozen=True, slots=True)
class Tree:
    """One that runs, and its addresses."""

    settings: Settings
    endpoints: Endpoints


@pytest.fixture(scope="module")
async def tree() -> AsyncIterator[Tree]:
    """Shared by the tests that end a part of it: each leaves it whole."""
    directory = stores.make_dir()
    settings = load(data_dir=directory, serve_port=free_port())
    async with running(settings, roles=ROLES) as endpoints:
        yield Tree(settings, endpoints)
    stores.remove_dir(directory)


async def test_all_is_there_when_it_is_ready_and_gone_afterwards(settings: Settings) -> None:
    """Ctrl-C leaves no orphan that holds a port or the data directory."""
    async with running(settings, roles=ROLES) as endpoints:
        published = json.loads(settings.endpoints_file.read_text())
        assert published == endpoints.model_dump()
        assert settings.endpoints_file.stat().st_mode & 0o777 == 0o600
        assert await _ask(endpoints.postgres_dsn, "SELECT current_user") == "nextlevel_service"
        pids = [_postgres_pid(settings), _valkey_pid(settings), _role_pid(settings)]
        assert psutil.Process(pids[2]).nice() == 10
    assert not settings.endpoints_file.exists()
    assert [_gone(pid) for pid in pids] == [True, True, True]


async def test_a_second_up_says_so(tree: Tree) -> None:
    """Two of them on one data directory would fight over the stores; the message has the pid to look for."""
    with pytest.raises(AlreadyRunning, match=rf"already runs in {tree.settings.data_dir} \(pid {os.getpid()}\)"):
        async with running(tree.settings, roles=ROLES):
            pass


async def test_a_killed_postgres_comes_back_with_its_data(tree: Tree) -> None:
    """Memory short, the kernel kills the largest; nobody should have to notice."""
    dsn = tree.endpoints.postgres_admin_dsn
    await _ask(dsn, "CREATE TABLE kept AS SELECT 'yes' AS word")
    pid = _postgres_pid(tree.settings)
    os.kill(pid, signal.SIGKILL)
    await _until(lambda: _postgres_pid(tree.settings) not in {0, pid})
    await _until_answers(dsn)
    assert await _ask(dsn, "SELECT word FROM kept") == "yes"


async def test_a_killed_valkey_comes_back_with_its_entries(tree: Tree) -> None:
    """What was published and not yet read is in the append-only file."""
    async with Redis.from_url(tree.endpoints.redis_url) as client:
        await client.xadd("nl:turns", {"e": "{}"})
    pid = _valkey_pid(tree.settings)
    os.kill(pid, signal.SIGKILL)
    await _until(lambda: _valkey_pid(tree.settings) not in {0, pid})
    async with Redis.from_url(tree.endpoints.redis_url) as client:
        assert await client.xlen("nl:turns") == 1


async def test_a_killed_role_is_started_again(tree: Tree) -> None:
    """A worker that a bad turn took down must not stay down."""
    pid = _role_pid(tree.settings)
    os.kill(pid, signal.SIGKILL)
    await _until(lambda: _role_pid(tree.settings) not in {0, pid})


async def test_set_addresses_win_over_the_embedded_stores(
    settings: Settings, postgres: stores.TestPostgres, valkey: stores.TestValkey
) -> None:
    """Elsewhere embedded Postgres overwrote the user's DSN; here nothing embedded is even started."""
    database = await postgres.empty_database()
    external = settings.model_copy(update={"postgres_dsn": database.admin_dsn, "redis_url": valkey.url})
    async with running(external, roles=ROLES) as endpoints:
        assert endpoints.postgres_dsn == database.admin_dsn
        assert endpoints.redis_url == valkey.url
        assert not (settings.data_dir / "postgres").exists()
        assert not (settings.data_dir / "valkey").exists()


async def test_a_port_in_use_is_named_with_its_setting(settings: Settings) -> None:
    """The commonest reason not to start; the person needs the number and the knob."""
    with socket.create_server((settings.serve_host, settings.serve_port)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Misconfigured, match=rf"port {port} .* is in use: .* NEXTLEVEL_SERVE_PORT"):
            async with running(settings, roles=ROLES):
                pass


async def test_memory_of_a_newer_release_is_left_alone(tree: Tree) -> None:
    """Whoever goes back a release must not have this one write into tables that it does not know."""
    dsn = tree.endpoints.postgres_admin_dsn
    await _ask(dsn, "INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, 'later', '')")
    external = load(data_dir=tree.settings.data_dir / "other", serve_port=free_port(), postgres_dsn=dsn)
    try:
        with pytest.raises(Misconfigured, match=r"has migration 9999.* use a newer nextlevel"):
            async with running(external.model_copy(update={"redis_url": tree.endpoints.redis_url}), roles=ROLES):
                pass
    finally:
        await _ask(dsn, "DELETE FROM schema_migrations WHERE version = 9999")


async def test_an_address_that_is_not_ours_is_told_with_its_setting(settings: Settings) -> None:
    """A typo in the address looks to the system like a network that is not there."""
    with pytest.raises(Misconfigured, match=r"can't listen on 192\.0\.2\.1 port .* NEXTLEVEL_SERVE_HOST"):
        async with running(settings.model_copy(update={"serve_host": "192.0.2.1"}), roles=ROLES):
            pass


async def test_a_role_that_never_starts_is_shown_with_the_end_of_its_log(settings: Settings) -> None:
    """Otherwise `up` would try for ever, and the reason would be in a file that nobody opens."""
    broken = (RoleSpec("serve", "tests.support.no_such_module"),)
    with pytest.raises(Misconfigured, match=r"(?s)serve does not start.*no_such_module"):
        async with running(settings, roles=broken):
            pass
    assert [_postgres_pid(settings), _valkey_pid(settings)] == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
async def test_ctrl_c_ends_it_in_order(settings: Settings, number: signal.Signals) -> None:
    """Roles first, so that none complains of a lost store; exit code 0, since stopping is what was asked for."""
    up = await _up(settings)
    await up.wait_for("ready")
    pids = [_postgres_pid(settings), _valkey_pid(settings), _role_pid(settings)]
    up.process.send_signal(number)
    assert await up.rest() == ["up stopping", "serve stopped", "valkey stopped", "postgres stopped"]
    assert up.process.returncode == 0
    assert [_gone(pid) for pid in pids] == [True, True, True]


async def test_ctrl_c_while_it_starts_leaves_nothing_running(settings: Settings) -> None:
    """People press it when the first start seems long, and that is when a store is half up."""
    up = await _up(settings)
    await up.wait_for("postgres first start: making the database")
    up.process.send_signal(signal.SIGINT)
    await up.rest()
    assert up.process.returncode == 0
    assert [_postgres_pid(settings), _valkey_pid(settings), _role_pid(settings)] == [0, 0, 0]


async def test_the_next_up_takes_over_what_a_killed_one_left(settings: Settings) -> None:
    """After kill -9 of `up` the stores go on, the roles end, and the next start needs no cleaning by hand."""
    up = await _up(settings)
    await up.wait_for("ready")
    role, database = _role_pid(settings), _postgres_pid(settings)
    up.process.kill()
    await up.rest()
    await _until(lambda: _gone(role))
    assert not _gone(database)
    async with running(settings, roles=ROLES):
        assert _postgres_pid(settings) == database
    assert _gone(database)


@dataclass(frozen=True, slots=True)
class Up:
    """An `up` in a process of its own, and what it tells."""

    process: asyncio.subprocess.Process
    told: asyncio.StreamReader

    async def wait_for(self, line: str) -> None:
        async for told in self.told:
            if told.decode().strip() == line:
                return
        pytest.fail(f"it ended before it said {line!r}")

    async def rest(self) -> list[str]:
        """Wait for its end; the lines up to it."""
        lines = (await self.told.read()).decode().splitlines()
        await self.process.wait()
        return lines


async def _up(settings: Settings) -> Up:
    code = f"""
import asyncio
from functools import partial
from nextlevel.ops.up.parts import RoleSpec
from nextlevel.ops.up.tree import run
from nextlevel.settings import load

tell = partial(print, flush=True)
raise SystemExit(asyncio.run(run(load(), progress=tell, on_ready=lambda _: tell("ready"), roles={ROLES!r})))
"""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, env=environment(settings), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    return Up(process, process.stdout)


def _postgres_pid(settings: Settings) -> int:
    return _pid_of(settings.data_dir / "postgres" / "postmaster.pid")


def _valkey_pid(settings: Settings) -> int:
    return _pid_of(settings.data_dir / "valkey" / "valkey.pid")


def _pid_of(pid_file: Path) -> int:
    """The number in a pid file, 0 where there is none (yet)."""
    try:
        return int(pid_file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return 0


def _role_pid(settings: Settings) -> int:
    """The process of this tree's role, by its environment; 0 where there is none."""
    for process in psutil.process_iter(["cmdline"]):
        if ROLES[0].module in (process.info["cmdline"] or []):
            try:
                if process.environ().get("NEXTLEVEL_SERVE_PORT") == str(settings.serve_port):
                    return int(process.pid)
            except psutil.Error:
                continue
    return 0


def _gone(pid: int) -> bool:
    """True for a zombie too: who adopted it may never reap it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.05)


async def _until_answers(dsn: str) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                await _ask(dsn, "SELECT 1")
            except (OSError, asyncpg.PostgresError):
                await asyncio.sleep(0.05)
            else:
                return


async def _ask(dsn: str, sql: str) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()
