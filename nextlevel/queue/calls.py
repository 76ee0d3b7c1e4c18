"""Calls of a language model, over all workers: how many at once, how many a minute, and when nobody may.

Redis's own clock counts. A worker that dies in a call holds its place until `hold_s` is over, and no longer.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import redis.asyncio as redis

from nextlevel.errors import ModelBusy, QueueUnreachable
from nextlevel.redis_client import translated

from . import names

_LOOK_AGAIN_S = 0.25
"""How soon a call that found no place looks again: one may have ended."""

# Milliseconds to wait: 0, the call may begin; -1, until another ends.
# KEYS: calls, starts, rest · ARGV: token, at once, a minute (0: any), ms held
_TAKE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local rest = redis.call('PTTL', KEYS[3])
if rest > 0 then return rest end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then return -1 end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - 60000)
if tonumber(ARGV[3]) > 0 and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
  return redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] + 60000 - now
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[4]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', KEYS[2], now, ARGV[1])
redis.call('PEXPIRE', KEYS[2], 60000)
return 0
"""
# The longer wait stays: two workers may have heard of it.
_REST = "if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], 1, 'PX', ARGV[1]) end"


@asynccontextmanager
async def place(
    client: redis.Redis, *, at_once: int, per_minute: int | None, hold_s: float, patience_s: float
) -> AsyncIterator[None]:
    """A place among the calls, for as long as the block runs; waited for at most `patience_s`.

    Raises:
        ModelBusy: there is none so soon; its `retry_after_s` says when there may be one.
        QueueUnreachable: Redis is away.
    """
    token = uuid.uuid4().hex
    until = time.monotonic() + patience_s
    while (wait_s := await _wait_s(client, token, at_once, per_minute, hold_s)) > 0:
        if time.monotonic() + wait_s > until:
            raise ModelBusy(f"the model's calls are bounded: a place in {wait_s:.1f} s", retry_after_s=wait_s)
        await asyncio.sleep(wait_s)
    try:
        yield
    finally:
        await _leave(client, token)


async def rest(client: redis.Redis, seconds: float) -> None:
    """Let nobody call for so long: the server has asked for it.

    Raises:
        QueueUnreachable: Redis is away.
    """
    with translated():
        # The stubs know only the answer of the synchronous client.
        answer: Any = client.eval(_REST, 1, names.MODEL_REST, str(max(1, round(seconds * 1000))))
        await answer


async def _wait_s(client: redis.Redis, token: str, at_once: int, per_minute: int | None, hold_s: float) -> float:
    with translated():
        keys = (names.MODEL_CALLS, names.MODEL_STARTS, names.MODEL_REST)
        answer: Any = client.eval(
            _TAKE, len(keys), *keys, token, str(at_once), str(per_minute or 0), str(round(hold_s * 1000))
        )
        wait_ms = int(await answer)
    return _LOOK_AGAIN_S if wait_ms < 0 else wait_ms / 1000


async def _leave(client: redis.Redis, token: str) -> None:
    try:
        with translated():
            await client.zrem(names.MODEL_CALLS, token)
    except QueueUnreachable:
        # The answer is there and must not be lost with the place, which ends by itself.
        return
