"""Receipts: what each outbox may take as delivered. `nl:ack:<install>` is a copy of what Postgres knows."""

from __future__ import annotations

from collections.abc import Iterable

import orjson
import redis.asyncio as redis

from nextlevel.queue import names
from nextlevel.redis_client import translated
from nextlevel.store import turns
from nextlevel.store.pool import Database


async def publish(db: Database, client: redis.Redis, installs: Iterable[str]) -> None:
    """Copy the current receipts of these outboxes to Redis, read after the commit that moved them.

    Raises:
        Transient: a store is away; upkeep rewrites them each minute.
    """
    wanted = sorted(set(installs))
    if not wanted:
        return
    async with db.pipeline() as conn:
        receipts = {install: await turns.receipt(conn, install) for install in wanted}
    with translated():
        async with client.pipeline(transaction=False) as pipe:
            for install, receipt in receipts.items():
                if receipt is not None:
                    pipe.set(names.receipt(install), orjson.dumps(receipt))
            await pipe.execute()
