"""The process tree of `nextlevel up`: stores, schema, roles; started in this order, kept running, stopped in reverse.

nextlevel up ─┬─ postgres, valkey      where no DSN is set; detached: they outlive a killed `up`, the next one
              │                        takes them over
              └─ work, serve, relay    end with `up`, however it ends
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client
from nextlevel.errors import Misconfigured, NextLevelError, ServiceUnreachable
from nextlevel.settings import Endpoints, Settings
from nextlevel.store.migrate import migrate

from .. import port
from . import lock, place, postgres, valkey
from .parts import Part, Role, RoleSpec, Store, keep
from .process import tail

Progress = Callable[[str, str], None]

ROLES = (
    RoleSpec("work", "nextlevel.workers", niceness=10),  # recall goes first where cores are few
    RoleSpec("serve", "nextlevel.ops.serve"),
    RoleSpec("relay", "nextlevel.producers.relay"),
)
READY_WITHIN_S = 60.0
READY_POLL_S = 0.1
ENDS_BEFORE_GIVING_UP = 3
# Where an earlier `up` was killed, its `serve` needs a moment to notice and to let go of the port.
PORT_FREE_WITHIN_S = 6.0


def no_progress(_part: str, _text: str) -> None:
    """A `Progress` for callers without a person at hand."""


async def run(
    settings: Settings,
    *,
    progress: Progress = no_progress,
    on_ready: Callable[[Endpoints], None] | None = None,
    roles: Sequence[RoleSpec] = ROLES,
) -> int:
    """Run the tree until a signal asks to stop (Ctrl-C, SIGTERM, a closed terminal), then stop it in order. Returns 0.

    Raises:
        AlreadyRunning: another `up` owns the data directory.
        Misconfigured, Transient: something can't be started; what was started is stopped.
    """
    this = asyncio.current_task()
    asked_to_stop = False

    def stop() -> None:
        nonlocal asked_to_stop
        if this is not None and not asked_to_stop:  # a second Ctrl-C must not break off an orderly stop
            asked_to_stop = True
            progress("up", "stopping")
            this.cancel()

    loop = asyncio.get_running_loop()
    # What is ignored stays so: `nohup nextlevel up` must outlive its terminal.
    heeded = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    for number in heeded:
        loop.add_signal_handler(number, stop)
    try:
        async with running(settings, progress=progress, roles=roles) as endpoints:
            if on_ready is not None:
                on_ready(endpoints)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not asked_to_stop:
            raise
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
    return 0


@asynccontextmanager
async def running(
    settings: Settings, *, progress: Progress = no_progress, roles: Sequence[RoleSpec] = ROLES
) -> AsyncIterator[Endpoints]:
    """The tree, ready to be used, for as long as the block runs. A part that dies meanwhile is started again.

    Raises:
        AlreadyRunning: another `up` owns the data directory.
        Misconfigured, Transient: something can't be started; what was started is stopped.
    """
    data_dir = place.prepare(settings.data_dir)
    with lock.held(data_dir):
        leftover = (data_dir / "endpoints.json").exists()
        await _need_port(settings.serve_host, settings.serve_port, within_s=PORT_FREE_WITHIN_S if leftover else 0)
        async with AsyncExitStack() as stack:
            endpoints = await _start_stores(settings, data_dir, progress, stack)
            applied = await migrate(endpoints.postgres_admin_dsn)
            progress("schema", f"{len(applied)} migrations applied" if applied else "up to date")
            _publish(endpoints, data_dir / "endpoints.json")
            stack.callback((data_dir / "endpoints.json").unlink, missing_ok=True)
            started = await _start_roles(roles, settings, data_dir, progress, stack)
            if started:  # without roles these are just the stores, with nobody to wait for
                service = Client(endpoints.service_url, token(secret_of(settings), OPERATOR))
                await _wait_until_ready(service, started, progress)
            yield endpoints


def environment(settings: Settings) -> dict[str, str]:
    """What a role gets: our own environment, and each setting that we were given in whatever way.

    The embedded stores' addresses are not in it: roles read them from endpoints.json, so that they still know that the
    stores are embedded.
    """
    found = dict(os.environ)
    for name in settings.model_fields_set:
        value = getattr(settings, name)
        if value is not None:
            text = value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            found[f"NEXTLEVEL_{name.upper()}"] = text
    found["NEXTLEVEL_DATA_DIR"] = str(settings.data_dir.resolve())
    found["OMP_NUM_THREADS"] = "1"  # a text is embedded on one core; more threads only fight over the same two
    return found


async def _start_stores(settings: Settings, data_dir: Path, progress: Progress, stack: AsyncExitStack) -> Endpoints:
    url = settings.redis_url
    if settings.postgres_dsn is not None:
        dsn, admin_dsn = settings.need_postgres(), settings.need_admin()
    else:
        database = Store("postgres", partial(postgres.start, data_dir, say=partial(progress, "postgres")))
        await _start([database], progress, stack)
        progress("postgres", f"data in {database.server.place.describe()}")
        dsn, admin_dsn = database.server.dsn, database.server.admin_dsn
    if url is None:
        queue = Store("valkey", partial(valkey.start, data_dir, say=partial(progress, "valkey")))
        await _start([queue], progress, stack)
        url = queue.server.url
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.serve_host, settings.serve_host)  # noqa: S104 - a name
    return Endpoints(
        pid=os.getpid(),
        postgres_dsn=dsn,
        postgres_admin_dsn=admin_dsn,
        redis_url=url,
        service_url=f"http://{host}:{settings.serve_port}",
    )


async def _start_roles(
    specs: Sequence[RoleSpec], settings: Settings, data_dir: Path, progress: Progress, stack: AsyncExitStack
) -> list[Role]:
    logs = data_dir / "logs"
    logs.mkdir(exist_ok=True)
    shared = environment(settings)
    roles = [Role(spec, shared, logs / f"{spec.name}.log") for spec in specs]
    await _start(roles, progress, stack)
    return roles


async def _start(parts: Sequence[Part], progress: Progress, stack: AsyncExitStack) -> None:
    stack.push_async_callback(_stop, parts, progress)
    for part in parts:
        since = time.monotonic()
        await part.start()
        progress(part.name, f"started in {time.monotonic() - since:.1f} s")
        stack.push_async_callback(_cancel, asyncio.create_task(keep(part), name=f"keep-{part.name}"))


async def _stop(parts: Sequence[Part], progress: Progress) -> None:
    await asyncio.gather(*(part.stop() for part in parts))
    progress(", ".join(part.name for part in parts), "stopped")


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _wait_until_ready(service: Client, roles: Sequence[Role], progress: Progress) -> None:
    since = time.monotonic()
    workers = any(role.name == "work" for role in roles)
    while not await asyncio.to_thread(_ready, service, workers):
        for role in roles:
            if role.ends >= ENDS_BEFORE_GIVING_UP:
                raise Misconfigured(
                    f"{role.name} does not start; the end of its log {role.log_file}:\n{tail(role.log_file)}"
                )
        if time.monotonic() - since > READY_WITHIN_S:
            raise ServiceUnreachable(
                f"{service.url} answers for no service and worker after {READY_WITHIN_S:.0f} s; see the logs in "
                f"{roles[0].log_file.parent}"
            )
        await asyncio.sleep(READY_POLL_S)
    progress("serve", f"answers at {service.url} after {time.monotonic() - since:.1f} s")


def _ready(service: Client, workers: bool) -> bool:
    """The service answers and, where workers were started, one of them has given a sign of life."""
    try:
        return bool(service.status()["queue"]["workers"]) if workers else service.alive()
    except NextLevelError:
        return False


async def _need_port(host: str, number: int, *, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while True:
        try:
            return port.need(host, number)
        except port.PortInUse:
            if time.monotonic() >= deadline:
                raise
        await asyncio.sleep(READY_POLL_S)


def _publish(endpoints: Endpoints, path: Path) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)  # before it holds a password
    draft.write_text(endpoints.model_dump_json(indent=2) + "\n")
    draft.replace(path)
