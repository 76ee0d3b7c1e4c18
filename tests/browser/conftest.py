"""A real browser before a real service with a real worker: three processes on the run's stores.

`make test-browser` runs these; the other tests need no browser. Every page that a test opens is watched: an error in
the console, or anything that the policy forbids, fails the test.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from nextlevel.event import Event
from nextlevel.queue import streams
from nextlevel.redis_client import connect
from nextlevel.settings import Settings
from nextlevel.store.pool import Database
from tests.support import stores
from tests.support.memory import Memory, person
from tests.support.ports import free_port

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]

SECRET = "a secret for tests"
PATIENCE_S = 60


@dataclass
class House:
    """A running service. `start_worker` lets turns move on."""

    url: str
    settings: Settings
    environment: dict[str, str]
    db: Database
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, module: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-m", module], env=self.environment)
        self.processes.append(process)
        return process

    def start_worker(self) -> None:
        self.start("nextlevel.workers")

    async def publish(self, event: Event) -> None:
        client = connect(self.settings.need_redis())
        try:
            await streams.publish(client, event)
        finally:
            await client.aclose()

    async def until(self, turn: str, *states: str) -> None:
        """Wait until a turn is in one of these states."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                async with self.db.pipeline() as conn:
                    found = await conn.fetchval("SELECT state FROM turns WHERE id = $1", turn)
                if found in states:
                    return
                await asyncio.sleep(0.05)

    async def person(self, name: str = "home") -> Memory:
        return await person(self.db, name)


@pytest.fixture
async def house(database: stores.Database, valkey: stores.TestValkey) -> AsyncIterator[House]:
    port = free_port()
    environment = {
        "NEXTLEVEL_POSTGRES_DSN": database.dsn,
        "NEXTLEVEL_REDIS_URL": valkey.url,
        "NEXTLEVEL_SERVE_PORT": str(port),
        "NEXTLEVEL_SECRET": SECRET,
        "NEXTLEVEL_ACCEPT_UNENROLLED": "true",
        "NEXTLEVEL_LOG_LEVEL": "error",
    }
    settings = Settings(postgres_dsn=database.dsn, redis_url=valkey.url, secret=SECRET, serve_port=port)
    db = await Database.connect(database.dsn)
    made = House(f"http://127.0.0.1:{port}", settings, {**os.environ, **environment}, db)
    try:
        serving = made.start("nextlevel.ops.serve")
        await _answers(f"{made.url}/healthz", serving)
        yield made
    finally:
        for process in made.processes:
            process.send_signal(signal.SIGTERM)
        for process in made.processes:
            assert 0 == await asyncio.to_thread(process.wait, 20)
        await db.close()


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    from .chromium import browser

    async with browser() as opened:
        yield opened


@pytest.fixture
async def page(chromium: Browser, house: House) -> AsyncIterator[Page]:
    """A page of the dashboard in a wide window."""
    context = await chromium.new_context(base_url=house.url, viewport={"width": 1440, "height": 900})
    opened = await context.new_page()
    with watched(opened):
        yield opened
        await context.close()


@contextmanager
def watched(page: Page) -> Iterator[None]:
    """Fail if the page complains of anything, or asks anybody but us."""
    complaints: list[str] = []
    page.on("console", lambda told: complaints.append(told.text) if told.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith("http://127.0.0.1:") else complaints.append(f"asked {asked.url}"),
    )
    yield
    assert [] == complaints


async def _answers(url: str, process: subprocess.Popen[bytes]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            assert process.poll() is None, "the service ended"
            try:
                await asyncio.to_thread(lambda: urlopen(url, timeout=5).close())  # noqa: S310 - our own address
                return
            except OSError:
                await asyncio.sleep(0.05)
