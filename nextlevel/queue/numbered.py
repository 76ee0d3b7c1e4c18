"""Publishing for senders that have no outbox to number their events: the number is given as the event is published."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import redis.asyncio as redis

from nextlevel.errors import MalformedEvent, QueueUnreachable
from nextlevel.event import COMPRESS_ABOVE_BYTES, STREAM, Event, encode
from nextlevel.redis_client import translated

from .names import sequence
from .streams import FULL_ABOVE

_PLACE = 999_999_999_999_999_999  # stands for the number until the script knows it

# Number and event in one step: a number whose event was lost in between is a gap that every later turn waits for.
_PUBLISH = """
if redis.call('XLEN', KEYS[2]) >= tonumber(ARGV[4]) then return 0 end
local number = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1])) + 1
redis.call('XADD', KEYS[2], '*', 'e', ARGV[2] .. string.format('%d', number) .. ARGV[3])
redis.call('SET', KEYS[1], string.format('%d', number))
return number
"""


async def publish_next(client: redis.Redis, install: str, event: Event, *, above: int) -> str:
    """Give an event the next number of `install` and put it on the live stream; its id.

    `above` is the highest number that Postgres knows: a Redis that was wiped goes on from there. If events were in
    flight when it was, a number may be given twice; ingest then files the second under a forked id: neither is lost.

    Raises:
        QueueUnreachable: Redis is away or full; nothing was published.
        MalformedEvent: the event is too large.
    """
    raw = encode(replace(event, id=f"{install}:{_PLACE}")).get("e", b"")
    if not raw:
        raise MalformedEvent("too_large", f"more than {COMPRESS_ABOVE_BYTES} bytes")
    before, _, after = raw.decode().partition(str(_PLACE))
    with translated():
        # The stubs know only the answer of the synchronous client.
        answer: Any = client.eval(_PUBLISH, 2, sequence(install), STREAM, str(above), before, after, str(FULL_ABOVE))
        number = int(await answer)
    if number == 0:
        raise QueueUnreachable(f"{STREAM} holds {FULL_ABOVE} entries: the workers are behind")
    return f"{install}:{number}"
