"""The streams that turns arrive on: publish, read as a group, take over what a dead reader held, acknowledge.

No MAXLEN and no XTRIM anywhere: they drop entries that nobody has read. What is done is acknowledged and deleted in one
MULTI, after Postgres has committed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis.asyncio as redis
from redis.exceptions import ResponseError

from nextlevel.errors import QueueUnreachable
from nextlevel.event import BULK_STREAM, STREAM, Event, encode
from nextlevel.redis_client import translated

from .names import GROUP, STREAMS

FULL_ABOVE = 50_000  # entries; past it, producers keep their turns in the outbox
IDLE_MS = 60_000  # a reader silent for this long is taken for dead
LAST_DELIVERY = 5  # an entry delivered this often and never acknowledged goes to quarantine


@dataclass(frozen=True, slots=True)
class Entry:
    """One stream entry; `deliveries` counts how often it was handed out, this time included."""

    stream: str
    id: bytes
    fields: Mapping[bytes, bytes]
    deliveries: int = 1


async def publish(client: redis.Redis, event: Event) -> None:
    """Put one event on its lane's stream.

    Raises:
        QueueUnreachable: Redis is away or full; keep the event and try later.
        MalformedEvent: the event breaks its limits.
    """
    stream = STREAM if event.lane == "live" else BULK_STREAM
    fields = encode(event)
    with translated():
        if await client.xlen(stream) >= FULL_ABOVE:
            raise QueueUnreachable(f"{stream} holds {FULL_ABOVE} entries: the workers are behind")
        await client.xadd(stream, {name.encode(): value for name, value in fields.items()})


async def republish(client: redis.Redis, stream: str, name: bytes, value: bytes) -> None:
    """Put an entry that was taken off a stream back on it, as it came: its one field.

    Raises:
        QueueUnreachable: Redis is away or full; nothing was published.
    """
    with translated():
        if await client.xlen(stream) >= FULL_ABOVE:
            raise QueueUnreachable(f"{stream} holds {FULL_ABOVE} entries: the workers are behind")
        await client.xadd(stream, {name: value})


async def ensure_group(client: redis.Redis) -> None:
    """Make the reading group where it is missing, from the very first entry."""
    for stream in STREAMS:
        with translated():
            try:
                await client.xgroup_create(stream, GROUP, id="0", mkstream=True)
            except ResponseError as error:
                if not str(error).startswith("BUSYGROUP"):
                    raise


async def read(client: redis.Redis, consumer: str, *, count: int, block_ms: int) -> list[Entry]:
    """New entries, live before bulk; waits up to `block_ms` (below the 5 s answer bound) if there are none."""
    with translated():
        try:
            found = await client.xreadgroup(
                GROUP, consumer, {stream: ">" for stream in STREAMS}, count=count, block=block_ms
            )
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            await ensure_group(client)  # Redis was wiped under us
            return []
    return _entries(found)


def _entries(found: Any) -> list[Entry]:
    """An answer of XREADGROUP, live before bulk. What was deleted meanwhile has no fields."""
    order = {stream.encode(): place for place, stream in enumerate(STREAMS)}
    return [
        Entry(stream.decode(), entry_id, fields)
        for stream, entries in sorted(found or [], key=lambda pair: order[pair[0]])
        for entry_id, fields in entries
        if fields
    ]


async def read_again(client: redis.Redis, consumer: str, *, count: int) -> list[Entry]:
    """What this reader was given and has not finished: it was interrupted between reading and acknowledging."""
    with translated():
        try:
            found = await client.xreadgroup(GROUP, consumer, {stream: "0" for stream in STREAMS}, count=count)
        except ResponseError as error:
            if not str(error).startswith("NOGROUP"):
                raise
            await ensure_group(client)
            return []
    return _entries(found)


async def take_over(client: redis.Redis, consumer: str, *, count: int, idle_ms: int = IDLE_MS) -> list[Entry]:
    """Entries that a dead reader left unacknowledged, with how often each was delivered."""
    taken = []
    with translated():
        for stream in STREAMS:
            try:
                _, entries, _ = await client.xautoclaim(stream, GROUP, consumer, min_idle_time=idle_ms, count=count)
            except ResponseError as error:
                if not str(error).startswith("NOGROUP"):
                    raise
                await ensure_group(client)
                continue
            counts = await _deliveries(client, stream, consumer, [entry_id for entry_id, _ in entries])
            taken += [Entry(stream, entry_id, fields, counts[entry_id]) for entry_id, fields in entries]
    return taken


async def _deliveries(client: redis.Redis, stream: str, consumer: str, ids: Sequence[bytes]) -> dict[bytes, int]:
    if not ids:
        return {}
    pending = await client.xpending_range(
        stream, GROUP, min=ids[0], max=ids[-1], count=len(ids) * 4, consumername=consumer
    )
    known = {row["message_id"]: int(row["times_delivered"]) for row in pending}
    return {entry_id: known.get(entry_id, 1) for entry_id in ids}


async def done(client: redis.Redis, entries: Sequence[Entry]) -> None:
    """Acknowledge and delete, in one MULTI: call it only after the commit."""
    with translated():
        async with client.pipeline(transaction=True) as pipe:
            for stream in STREAMS:
                ids = [entry.id for entry in entries if entry.stream == stream]
                if ids:
                    pipe.xack(stream, GROUP, *ids)
                    pipe.xdel(stream, *ids)
            await pipe.execute()


async def leave(client: redis.Redis, consumer: str) -> None:
    """Take a reader's name off the group, but only where it holds nothing: else its entries would be lost."""
    with translated():
        for stream in STREAMS:
            for row in await client.xinfo_consumers(stream, GROUP):
                if row["name"] == consumer.encode() and row["pending"] == 0:
                    await client.xgroup_delconsumer(stream, GROUP, consumer)


async def depths(client: redis.Redis) -> dict[str, int]:
    """How many entries wait on each stream."""
    with translated():
        return {stream: await client.xlen(stream) for stream in STREAMS}
