"""Table dead_letters, for a person who decides what becomes of them. Inside `Database.pipeline`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from . import trace
from .pool import Connection
from .sql import SQL
from .status import KEPT_WHOLE, LONGEST_INPUT


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which letters: each part narrows, None does not. `up_to` leaves out what came after a look at them."""

    kind: str | None = None
    code: str | None = None
    text: str | None = None
    up_to: int | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    """One letter as a decision needs it. `state` is its turn's, None where it never became one."""

    id: int
    kind: str
    tenant_id: UUID | None
    turn_id: str | None
    entry_id: str | None
    code: str
    input: bytes | None
    state: str | None

    @property
    def whole(self) -> bool:
        """Whether all of the input was kept."""
        return self.input is not None and (self.code in KEPT_WHOLE or len(self.input) < LONGEST_INPUT)


@dataclass(frozen=True, slots=True)
class Count:
    """How many a decision is about (counted up to a cap), how many of them are turns, and the newest letter's id."""

    letters: int
    of_turns: int
    newest: int


async def page(conn: Connection, chosen: Chosen, *, after: int | None = None, limit: int) -> list[dict[str, Any]]:
    """Letters, newest first, with their turn's words."""
    rows = await conn.fetch(SQL.letters.page, chosen.kind, chosen.code, chosen.text, chosen.up_to, after, limit)
    return [dict(row) for row in rows]


async def count(conn: Connection, chosen: Chosen, *, most: int) -> Count:
    row = await conn.fetchrow(SQL.letters.count, chosen.kind, chosen.code, chosen.text, chosen.up_to, most)
    return Count(0, 0, 0) if row is None else Count(row["letters"], row["of_turns"], row["newest"] or 0)


async def codes(conn: Connection, *, most: int) -> list[dict[str, Any]]:
    """How many letters there are of each kind and code, the commonest first."""
    return [dict(row) for row in await conn.fetch(SQL.letters.codes, most)]


async def of_turn(conn: Connection, tenant_id: UUID, turn_id: str) -> list[dict[str, Any]]:
    """The letters about one turn, newest first."""
    return [dict(row) for row in await conn.fetch(SQL.letters.of_turn, tenant_id, turn_id)]


async def hold(conn: Connection, letter_id: int) -> Letter | None:
    """One letter, held against a second decision until the transaction ends; None if it is gone."""
    await conn.execute(SQL.letters.hold, letter_id)
    row = await conn.fetchrow(SQL.letters.one, letter_id)
    if row is None:
        return None
    return Letter(
        row["dead_letter_id"],
        row["kind"],
        row["tenant_id"],
        row["turn_id"],
        row["entry_id"],
        row["code"],
        row["input"],
        row["state"],
    )


async def requeue(conn: Connection, tenant_id: UUID, turn_id: str) -> bool:
    """Let a dead turn begin anew and take its letters away. False: it is not dead (any more)."""
    if await conn.fetchval(SQL.letters.requeue, tenant_id, turn_id) is None:
        return False
    await conn.execute(SQL.letters.remove_of_turn, tenant_id, turn_id)
    await trace.add(conn, tenant_id, turn_id, "retried", by="operator")
    return True


async def remove(conn: Connection, letter_id: int) -> None:
    """Take one letter away; a turn it is about stays as it ended."""
    await conn.execute(SQL.letters.remove, letter_id)
