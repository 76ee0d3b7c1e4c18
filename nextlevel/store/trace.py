"""Table trace_events: what happened to a turn, step by step, with its facts."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from nextlevel.errors import NotFound

from .pool import Connection
from .sql import SQL


async def add(conn: Connection, tenant_id: UUID, turn_id: str, step: str, **facts: Any) -> None:
    """Note one step. Facts are ids, counts and reasons."""
    await conn.execute(SQL.trace.add, tenant_id, turn_id, step, facts)


async def of_turn(conn: Connection, tenant_id: UUID, turn_id: str) -> dict[str, Any]:
    """A turn's state, its steps in order, and the blocks that stand on it (inside `Database.memory`).

    Raises:
        NotFound: no such turn within this wall.
    """
    turn = await conn.fetchrow(SQL.trace.turn, tenant_id, turn_id)
    if turn is None:
        raise NotFound(f"there is no turn {turn_id!r} here")
    events = await conn.fetch(SQL.trace.events, tenant_id, turn_id)
    blocks = await conn.fetch(SQL.blocks.of_turn, tenant_id, turn_id)
    hidden = {"tenant_id", "hash", "user_id", "subject_entity"}
    return {
        "turn": dict(turn),
        "events": [dict(event) for event in events],
        "blocks": [{name: value for name, value in block.items() if name not in hidden} for block in blocks],
    }
