"""Table retractions: what a person took back in which words, and the block that it ended. Inside `Database.memory`.

A fact that was told before it and arrives later is looked up here; a retraction goes with its turn, and with the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nextlevel.model import Scope

from .pool import Connection
from .sql import SQL

MOST_LATER = 1_000
"""Retractions after a fact that are looked at when it arrives: in a live talk there is none."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """Words that take something back, the `number`th of their turn, and the block that they ended, None for none."""

    turn_id: str
    number: int
    at: datetime
    said: str
    project: str | None
    block_id: UUID | None = None


async def add(conn: Connection, scope: Scope, new: Retraction) -> None:
    await conn.execute(
        SQL.retractions.add,
        scope.tenant_id,
        new.turn_id,
        new.number,
        scope.user_id,
        scope.profile_scope,
        new.at,
        new.said,
        new.project,
    )


async def after(conn: Connection, scope: Scope, at: datetime, *, of_person: bool) -> list[Retraction]:
    """What was taken back after a time, in order: under this profile, or anywhere by the person."""
    profile = None if of_person else scope.profile_scope
    rows = await conn.fetch(SQL.retractions.after, scope.tenant_id, scope.user_id, at, profile, MOST_LATER)
    return [Retraction(**row) for row in rows]


async def ended(conn: Connection, scope: Scope, retraction: Retraction) -> UUID | None:
    """The block that a retraction ended, as of now."""
    found: UUID | None = await conn.fetchval(
        SQL.retractions.ended, scope.tenant_id, retraction.turn_id, retraction.number
    )
    return found


async def settle(conn: Connection, scope: Scope, retraction: Retraction, block_id: UUID | None) -> None:
    """Write down which block a retraction ended."""
    await conn.execute(SQL.retractions.settle, scope.tenant_id, retraction.turn_id, retraction.number, block_id)


async def follow(conn: Connection, scope: Scope, block_id: UUID, anew: UUID, *, after: datetime) -> None:
    """A block goes on as another after a time: what ended it later ended that."""
    await conn.execute(SQL.retractions.follow, scope.tenant_id, block_id, anew, after)


async def may_mean(conn: Connection, scope: Scope, words: Sequence[str], at: datetime, *, limit: int) -> list[UUID]:
    """The blocks that held at a time and share most words with what was said then."""
    rows = await conn.fetch(SQL.retractions.may_mean, scope.tenant_id, list(words), at, limit)
    return [row["block_id"] for row in rows]


async def forget(conn: Connection, scope: Scope, block_ids: Sequence[UUID]) -> None:
    """Let go of the words with which forgotten blocks had been taken back."""
    await conn.execute(SQL.retractions.forget, scope.tenant_id, list(block_ids))


async def unsay(conn: Connection, scope: Scope, turn_id: str) -> None:
    """Let go of what an undone turn took back."""
    await conn.execute(SQL.retractions.unsay, scope.tenant_id, turn_id)
