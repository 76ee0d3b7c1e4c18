"""Table recalls: what was asked, on which rung it was answered, and which blocks were shown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nextlevel.model import Block, Scope

from .blocks import block_of
from .pool import Connection
from .sql import SQL

KEEP_DAYS = 30
KEEP_ROWS = 100_000
LONGEST_QUERY = 300


@dataclass(frozen=True, slots=True)
class Recalled:
    """One answer, told after it was given. `query` is redacted; `shown` pairs blocks with their scores, best first."""

    tenant_id: UUID
    user_id: UUID
    session: str
    at: datetime
    query: str
    mode: str
    rung: str
    ms: float
    abstained: bool
    vectors: bool
    shown: tuple[tuple[UUID, float], ...]


async def add(conn: Connection, recalls: Sequence[Recalled]) -> None:
    """Keep a batch (inside `Database.pipeline`)."""
    await conn.executemany(
        SQL.recalls.add,
        [
            (
                each.tenant_id,
                each.user_id,
                each.session,
                each.at,
                each.query[:LONGEST_QUERY],
                each.mode,
                each.rung,
                each.ms,
                each.abstained,
                each.vectors,
                [{"block": str(block), "score": score} for block, score in each.shown],
            )
            for each in recalls
        ],
    )


async def showing(
    conn: Connection, scope: Scope, block_ids: Collection[UUID], *, since: datetime, limit: int
) -> list[dict[str, Any]]:
    """The answers since then in which any of these blocks were shown, newest first (inside `Database.memory`)."""
    rows = await conn.fetch(SQL.recalls.showing, scope.tenant_id, scope.user_id, since, list(block_ids), limit)
    return [dict(row) for row in rows]


async def shown_in(conn: Connection, scope: Scope, session: str, *, since: datetime, limit: int = 50) -> list[Block]:
    """The blocks that a conversation's latest answers showed, those since then (inside `Database.memory`)."""
    rows = await conn.fetch(SQL.recalls.shown_in, scope.tenant_id, scope.user_id, session, since, limit)
    return [block_of(row) for row in rows]


async def prune(conn: Connection) -> int:
    """Delete what is older than 30 days or beyond 100,000 rows; how many went (inside `Database.pipeline`)."""
    done = await conn.execute(SQL.recalls.prune, KEEP_DAYS, KEEP_ROWS)
    return int(done.split()[-1])
