"""Where a bench runs: a directory that is gone afterwards, stores of its own, homes for the plugin."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from nextlevel.auth import secret_of, token
from nextlevel.ops.up import place, tree
from nextlevel.ops.up.parts import RoleSpec
from nextlevel.producers.hermes.config import Config, save
from nextlevel.settings import Endpoints, Settings, load

from .common import Report

DIR = Path("/tmp")  # noqa: S108 - a short path, for sockets; NEXTLEVEL_BENCH_DIR names another disk


@contextmanager
def directory() -> Iterator[Path]:
    """A directory on the disk that is measured, removed afterwards. No setting of the person's own reaches into it."""
    for name in [name for name in os.environ if name.startswith("NEXTLEVEL_") and name != "NEXTLEVEL_BENCH_DIR"]:
        del os.environ[name]
    os.environ["NEXTLEVEL_CONFIG_FILE"] = os.devnull
    made = Path(tempfile.mkdtemp(prefix="nl-bench-", dir=os.environ.get("NEXTLEVEL_BENCH_DIR", DIR)))
    made.chmod(0o711)  # root's servers run as another user, who must pass through
    try:
        yield made
    finally:
        if (moved := place.elsewhere(made / "data")).exists():
            shutil.rmtree(moved)
        shutil.rmtree(made)


@asynccontextmanager
async def running(
    root: Path, report: Report, roles: Sequence[RoleSpec] = tree.ROLES, **more: Any
) -> AsyncIterator[tuple[Settings, Endpoints]]:
    """The process tree of `nextlevel up`, for as long as the block runs; `more` are further settings."""
    settings = load(data_dir=place.prepare(root / "data"), serve_port=_free_port(), log_level="warning", **more)
    async with tree.running(settings, progress=lambda part, text: report.say(f"{part}: {text}"), roles=roles) as found:
        yield settings, found


def home(root: Path, install: str, *, settings: Settings, service_url: str = "", redis_url: str = "") -> Path:
    """A home of the agent, enrolled as `install`."""
    made = (root / f"home-{install}").resolve()
    made.mkdir()
    config = Config(
        install=install,
        token=token(secret_of(settings), install),
        home=str(made),
        service_url=service_url,
        redis_url=redis_url,
    )
    save(made, config)
    return made


async def database(endpoints: Endpoints, name: str) -> str:
    """An empty database of that name beside ours, with pgvector, for somebody else's memory; its DSN, as superuser."""
    admin = await asyncpg.connect(endpoints.postgres_admin_dsn)
    try:
        await admin.execute(f'CREATE DATABASE "{name}"')
    finally:
        await admin.close()
    made = urlsplit(endpoints.postgres_admin_dsn)._replace(path=f"/{name}").geturl()
    inside = await asyncpg.connect(made)
    try:
        await inside.execute("CREATE EXTENSION vector")
    finally:
        await inside.close()
    return made


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
