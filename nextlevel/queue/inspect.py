"""What waits in Redis, for whoever operates it: nothing here changes anything."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import orjson
import redis.asyncio as redis

from nextlevel.redis_client import translated

from .names import STAGES, STREAMS, live, stage_queue


@dataclass(frozen=True, slots=True)
class Server:
    """What a Redis or Valkey says of itself. `skew_s`: how far its clock is ahead of ours."""

    version: str
    eviction: str
    on_disk: bool
    skew_s: float


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


async def workers(client: redis.Redis, host: str = "*") -> dict[str, list[str]]:
    """The parts that each living worker runs, by the worker's name, `<host>-<pid>`.

    Raises:
        QueueUnreachable: Redis does not answer.
    """
    with translated():
        keys = [key async for key in client.scan_iter(match=live(f"{host}-*"), count=1_000)]
        said = await client.mget(keys) if keys else []
    found = zip(keys, said, strict=True)
    return {key.decode().removeprefix(live("")): orjson.loads(facts)["parts"] for key, facts in found if facts}


async def server(client: redis.Redis) -> Server:
    """How the server is set up. By INFO alone: hosted ones often refuse CONFIG.

    Raises:
        QueueUnreachable: Redis does not answer.
    """
    with translated():
        before = time.time()
        seconds, micros = await client.time()
        now = (before + time.time()) / 2
        said = await client.info("everything")
    return Server(
        version=str(said.get("valkey_version") or said.get("redis_version")),
        eviction=str(said.get("maxmemory_policy")),
        on_disk=bool(said.get("aof_enabled")),
        skew_s=seconds + micros / 1e6 - now,
    )


async def _oldest_s(client: redis.Redis, stream: str) -> float:
    """How long the first entry of a stream has been there; an entry's id begins with its milliseconds."""
    first = await client.xrange(stream, count=1)
    if not first:
        return 0.0
    return max(0.0, round(time.time() - int(first[0][0].split(b"-")[0]) / 1000, 1))
