"""What waits in Redis, for whoever operates it: nothing here changes anything."""

from __future__ import annotations

import time
from typing import Any

import redis.asyncio as redis

from .connection import translated
from .names import STAGES, STREAMS, live, stage_queue


async def snapshot(client: redis.Redis) -> dict[str, Any]:
    """Depth and oldest age of each stream, depth of each stage's queue, and the workers that gave a sign of life.

    Raises:
        QueueUnreachable: Redis does not answer.
    """
    with translated():
        return {
            "streams": {
                stream: {"entries": await client.xlen(stream), "oldest_s": await _oldest_s(client, stream)}
                for stream in STREAMS
            },
            "queues": {stage: await client.zcard(stage_queue(stage)) for stage in STAGES},
            "workers": sorted([key.decode() async for key in client.scan_iter(match=live("*"), count=1_000)]),
        }


async def _oldest_s(client: redis.Redis, stream: str) -> float:
    """How long the first entry of a stream has been there; an entry's id begins with its milliseconds."""
    first = await client.xrange(stream, count=1)
    if not first:
        return 0.0
    return max(0.0, round(time.time() - int(first[0][0].split(b"-")[0]) / 1000, 1))
