"""Whatever is killed in the middle: what the agent told is stored once, nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil
import pytest
import redis.asyncio as redis

from nextlevel import settings as settings_module
from nextlevel.ops.up import tree
from nextlevel.producers.hermes.provider import Provider
from nextlevel.settings import Endpoints
from nextlevel.wire import http, resp
from tests.support import stores
from tests.support.ports import free_port

WITHIN_S = 60
FACTS = [
    ("waldseilgarten-crm runs on port 8080.", "runs_on_port"),
    ("Flo works on waldseilgarten-crm.", "works_on"),
    ("waldseilgarten-crm uses NestJS.", "uses"),
    ("I prefer compact tables in every answer.", "prefers"),
    ("waldseilgarten-crm runs on port 8091 now.", "runs_on_port"),
    ("pegelwacht uses FastAPI.", "uses"),
    ("waldseilgarten-crm uses React.", "uses"),
    ("pegelwacht runs on port 9000.", "runs_on_port"),
]

pytestmark = pytest.mark.journey


@dataclass
class House:
    """The whole product, running, and an agent with the plugin."""

    endpoints: Endpoints
    data_dir: Path
    home: Path
    provider: Provider

    async def tell(self, first: int, last: int) -> None:
        for number in range(first, last):
            text = FACTS[number][0]
            await asyncio.to_thread(self.provider.sync_turn, text, "Noted.", session_id=f"s{number % 2}")

    async def rows(self, query: str) -> list[asyncpg.Record]:
        conn = await asyncpg.connect(self.endpoints.postgres_admin_dsn)
        try:
            return list(await conn.fetch(query))
        finally:
            await conn.close()

    async def settled(self) -> None:
        """Wait until every turn has come to its end."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                try:
                    ended = await self.rows("SELECT count(*) FROM turns WHERE finished_at IS NOT NULL")
                    if ended[0][0] >= len(FACTS):
                        return
                except (OSError, asyncpg.PostgresError):  # it is the one that was killed
                    await asyncio.sleep(0.1)
                self.hurry()
                await asyncio.sleep(0.1)

    def hurry(self) -> None:
        """As if the half minute had passed after which an unacknowledged turn is sent again."""
        with closing(sqlite3.connect(self.home / "nextlevel" / "shortterm.db", timeout=5)) as outbox, outbox:
            outbox.execute(
                "UPDATE outbox SET next_at = 0 WHERE state = 'published' AND next_at < ?", [time.time() + 28]
            )

    def worker(self) -> psutil.Process:
        """The worker process of this house."""
        for child in psutil.Process().children(recursive=True):
            if "nextlevel.workers" in " ".join(child.cmdline()):
                return child
        raise AssertionError("no worker runs")


@pytest.fixture
async def house() -> AsyncIterator[House]:
    directory = stores.make_dir()
    home = directory / "hermes"
    home.mkdir()
    loaded = settings_module.load(data_dir=directory, serve_port=free_port(), lease_s=2)
    async with tree.running(loaded) as endpoints:
        await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", "from nextlevel.ops.cli import main; main()", "hermes", "install"],
            env={**os.environ, "HERMES_HOME": str(home), "NEXTLEVEL_DATA_DIR": str(directory)},
            check=True,
            capture_output=True,
        )
        provider = Provider()
        provider.initialize("s0", hermes_home=str(home), platform="cli", agent_identity="default")
        yield House(endpoints, directory, home, provider)
        resp.shared(endpoints.redis_url).close()
        http.shared(endpoints.service_url).close()
    stores.remove_dir(directory)


async def kill_the_worker(house: House) -> None:
    house.worker().kill()


async def kill_postgres(house: House) -> None:
    for pid in (int((house.data_dir / "postgres" / "postmaster.pid").read_text().split()[0]),):
        psutil.Process(pid).kill()


async def wipe_valkey(house: House) -> None:
    async with redis.Redis.from_url(house.endpoints.redis_url) as client:
        await client.flushall()


async def kill_valkey(house: House) -> None:
    psutil.Process(int((house.data_dir / "valkey" / "valkey.pid").read_text())).kill()


@pytest.mark.parametrize("fault", [kill_the_worker, kill_postgres, wipe_valkey, kill_valkey])
async def test_nothing_is_lost_and_nothing_doubled(house: House, fault: Callable[[House], Awaitable[None]]) -> None:
    await house.tell(0, 4)
    await fault(house)
    await house.tell(4, len(FACTS))
    await house.settled()

    turns = await house.rows("SELECT user_text, count(*) FROM turns GROUP BY user_text")
    assert {text: 1 for text, _ in FACTS} == {row[0]: row[1] for row in turns}
    states = await house.rows("SELECT state, reason, user_text FROM turns WHERE state <> 'stored'")
    assert [] == states
    live = await house.rows("SELECT subject, predicate FROM blocks WHERE status = 'active'")
    assert len(live) == len(FACTS) - 1, "8080 was replaced by 8091; all else stands once"
    doubled = await house.rows("SELECT hash FROM blocks GROUP BY scope_id, hash HAVING count(*) > 1")
    assert [] == doubled
