"""What the opening brief of a session reads: standing rules, a project's state, the last conversations.

All of it runs inside `Database.memory(scope)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from nextlevel.model import Block, Scope

from .blocks import block_of
from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class PastSession:
    """A conversation: when it last went on, on which project, its digest if it has one, and how it began."""

    session: str
    last_at: datetime
    project: str | None
    digest: dict[str, Any] | None
    first_words: str


async def rules(
    conn: Connection,
    scope: Scope,
    *,
    as_of: datetime | None,
    known_at: datetime | None = None,
    explicit: bool = False,
    limit: int,
) -> list[UUID]:
    """The person's preferences that hold, the surest first; with `explicit` also what was told to be remembered."""
    rows = await conn.fetch(SQL.brief.rules, scope.tenant_id, scope.readable, as_of, limit, known_at, explicit)
    return [row["block_id"] for row in rows]


async def states(conn: Connection, scope: Scope, project: str, *, limit: int) -> list[Block]:
    """What holds of a project, what was told last first."""
    rows = await conn.fetch(SQL.brief.states, scope.tenant_id, scope.readable, project, limit)
    return [block_of(row) for row in rows]


async def person(conn: Connection, scope: Scope, *, limit: int) -> list[Block]:
    """What holds of the person, what they told us to remember first."""
    return [block_of(row) for row in await conn.fetch(SQL.brief.person, scope.tenant_id, scope.readable, limit)]


async def sessions(conn: Connection, scope: Scope, *, but: str, limit: int) -> list[PastSession]:
    """The profile's last conversations, latest first, without the one that asks."""
    rows = await conn.fetch(SQL.brief.sessions, scope.tenant_id, scope.user_id, scope.profile, but, limit)
    return [
        PastSession(row["session"], row["last_at"], row["project"], row["digest"], row["first_words"]) for row in rows
    ]
