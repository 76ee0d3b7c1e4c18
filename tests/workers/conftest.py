"""A worker whose stages run when the test says so, on real stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest

from nextlevel import redis_client, settings
from nextlevel.event import Event
from nextlevel.model import Scope
from nextlevel.queue import streams
from nextlevel.queue.stages import Stages
from nextlevel.store import turns
from nextlevel.store.pool import Database
from nextlevel.workers import jobs
from nextlevel.workers.context import WorkerContext
from nextlevel.workers.ingest import Ingest
from tests.support import builders, stores


@dataclass
class Bench:
    """One worker's parts, and what a test asks of them."""

    ctx: WorkerContext
    admin_dsn: str

    async def tell(self, *events: Event) -> None:
        """Publish events and take them in, as far as table turns."""
        await streams.ensure_group(self.ctx.redis)
        for each in events:
            await streams.publish(self.ctx.redis, each)
        await self.ingest()

    async def ingest(self) -> None:
        entries = await streams.read(self.ctx.redis, "bench", count=100, block_ms=1)
        await Ingest(self.ctx, "bench").take_in(entries)

    async def drain(self) -> None:
        """Run every stage of every turn that can go, until none can."""
        moved = True
        while moved:
            moved = False
            for name, stage in jobs.STAGES.items():
                async with self.ctx.db.pipeline() as conn:
                    found = await turns.ready(conn, stage.takes, limit=100, gap_wait_s=0)
                for each in found:
                    await jobs.run(self.ctx, name, each.tenant_id, each.id, each.fence)
                    moved = True

    async def remember(self, *events: Event) -> None:
        """The whole way of some events, to the end."""
        await self.tell(*events)
        await self.drain()

    async def rows(self, query: str, *args: object) -> list[asyncpg.Record]:
        """Ask Postgres past every wall."""
        conn = await asyncpg.connect(self.admin_dsn)
        try:
            return list(await conn.fetch(query, *args))
        finally:
            await conn.close()

    async def states(self) -> dict[str, str]:
        return {row["id"]: row["state"] for row in await self.rows("SELECT id, state FROM turns ORDER BY id")}

    async def facts(self, status: str = "active") -> set[tuple[str, str, str]]:
        found = await self.rows("SELECT subject, predicate, object FROM blocks WHERE status = $1", status)
        return {(row["subject"], row["predicate"], row["object"]) for row in found}

    async def scope(self, **who: str) -> Scope:
        return await builders.scope(self.ctx.db, **who)


@pytest.fixture
async def bench(database: stores.Database, valkey: stores.TestValkey, tmp_path: Path) -> AsyncIterator[Bench]:
    db = await Database.connect(database.dsn)
    redis = redis_client.connect(valkey.url)
    queue = await Stages.connect(valkey.url)
    loaded = settings.load(data_dir=tmp_path, accept_unenrolled=True, lease_s=5)
    yield Bench(WorkerContext(loaded, db, redis, queue, embedder=None), database.admin_dsn)
    await queue.close()
    await redis.aclose()
    await db.close()
