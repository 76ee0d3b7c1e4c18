"""What an operator looks through and acts on: turns that wait, run and ended. Inside `Database.pipeline`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nextlevel.errors import NotFound

from . import trace
from .pool import Connection
from .sql import SQL
from .status import add_dead_letter

COUNTED = 10_000
"""Where counting stops: past it, how many there are does not change what to do."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which turns to look at: each part narrows, None does not. `text` is a piece of what was said, or a turn's id."""

    state: str | None = None
    lane: str | None = None
    session: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page ended."""

    at: datetime
    id: str


async def limit_time(conn: Connection) -> None:
    """Give this transaction's statements 3 s each; a search that needs more is refused as StoreUnreachable."""
    await conn.execute(SQL.queues.limit_time)


async def depths(conn: Connection) -> list[dict[str, Any]]:
    """What waits at each stage, by lane; its oldest age in seconds; how many run. Counts stop at COUNTED + 1."""
    return [dict(row) for row in await conn.fetch(SQL.queues.depths, COUNTED + 1)]


async def flow(conn: Connection, *, slot_s: int, slots: int) -> list[int]:
    """How many turns ended in each slot of time, oldest slot first, of the newest 50,000."""
    rows = await conn.fetch(SQL.queues.flow, slot_s, slot_s * slots, 50_000)
    found = {row["slot"]: row["turns"] for row in rows}
    return [found.get(slot, 0) for slot in reversed(range(slots))]


async def ended(conn: Connection) -> dict[str, int]:
    """How the turns of the last 24 hours ended; of the newest COUNTED + 1."""
    return {row["state"]: row["turns"] for row in await conn.fetch(SQL.queues.ended, COUNTED + 1)}


async def waiting(conn: Connection, wanted: Wanted, *, after: Place | None = None, limit: int) -> list[dict[str, Any]]:
    """Turns on their way, oldest first, each with what it waits for."""
    return await _page(conn, SQL.queues.waiting, wanted, after, limit)


async def finished(conn: Connection, wanted: Wanted, *, after: Place | None = None, limit: int) -> list[dict[str, Any]]:
    """Turns that ended, last first."""
    return await _page(conn, SQL.queues.finished, wanted, after, limit)


async def waits_for(conn: Connection, tenant_id: UUID, turn_id: str) -> dict[str, Any]:
    """What holds one turn up: `behind`, the turn of its session that has to end first; `gap`, one has not come yet."""
    row = await conn.fetchrow(SQL.queues.waits_for, tenant_id, turn_id)
    return {"behind": None, "gap": False} if row is None else dict(row)


async def release(conn: Connection, tenant_id: UUID, turn_id: str) -> None:
    """Take a turn from its holder and let it be tried at once; what the holder still writes is refused.

    Raises:
        NotFound: it is not on its way (any more).
    """
    state = await conn.fetchval(SQL.queues.release, tenant_id, turn_id)
    if state is None:
        raise NotFound(f"turn {turn_id!r} is not on its way any more")
    await trace.add(conn, tenant_id, turn_id, "released", stage=state, by="operator")


async def kill(conn: Connection, tenant_id: UUID, turn_id: str) -> None:
    """End a turn as dead, with a letter from which it can be retried.

    Raises:
        NotFound: it is not on its way (any more).
    """
    reason = "an operator ended it while it was on its way"
    if await conn.fetchval(SQL.queues.kill, tenant_id, turn_id, f"killed: {reason}") is None:
        raise NotFound(f"turn {turn_id!r} is not on its way any more")
    await trace.add(conn, tenant_id, turn_id, "dead", code="killed", by="operator")
    await add_dead_letter(conn, "dead", tenant_id=tenant_id, turn_id=turn_id, code="killed", reason=reason)


async def _page(conn: Connection, query: str, wanted: Wanted, after: Place | None, limit: int) -> list[dict[str, Any]]:
    cursor = (None, None) if after is None else (after.at, after.id)
    rows = await conn.fetch(query, wanted.state, wanted.lane, wanted.session, wanted.text, *cursor, limit)
    return [dict(row) for row in rows]
