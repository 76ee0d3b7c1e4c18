"""Table sessions: the conversations of a person, and what each came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nextlevel.model import Block, Scope, Turn

from .blocks import block_of
from .pool import Connection
from .scopes import scope_of
from .sql import SQL
from .turns import turn_of

_MOST_LEARNT = 50


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation. `digest` is None until it fell idle once, and while it is made anew."""

    session: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    turns: int
    digest: dict[str, Any] | None


async def undigested(conn: Connection, *, idle_s: float, limit: int) -> list[tuple[Scope, str]]:
    """Sessions that wait for a digest, with their scopes (inside `Database.pipeline`)."""
    rows = await conn.fetch(SQL.sessions.undigested, idle_s, limit)
    return [(scope_of(row), row["session"]) for row in rows]


async def hold(conn: Connection, scope: Scope, session: str) -> bool:
    """Own a session until the transaction ends. False: it has its digest already (inside `Database.memory`)."""
    return bool(await conn.fetchval(SQL.sessions.hold, scope.tenant_id, scope.user_id, session))


async def turns(conn: Connection, scope: Scope, session: str, *, limit: int) -> list[Turn]:
    """The last turns of a session that may be told again, oldest first (inside `Database.memory`)."""
    rows = await conn.fetch(SQL.sessions.turns, scope.tenant_id, scope.user_id, session, limit)
    return [turn_of(row) for row in reversed(rows)]


async def save_digest(conn: Connection, scope: Scope, session: str, digest: dict[str, Any] | None) -> None:
    """Keep a held session's digest; None where nothing is left that could be told."""
    await conn.execute(SQL.sessions.save_digest, scope.tenant_id, scope.user_id, session, digest)


async def undigest(conn: Connection, scope: Scope, turn_ids: Sequence[str]) -> None:
    """Drop the digests that may quote these turns: they are made anew (inside `Database.memory`)."""
    await conn.execute(SQL.sessions.undigest, scope.tenant_id, scope.user_id, list(turn_ids))


async def page(conn: Connection, scope: Scope, *, before: tuple[datetime, str] | None, limit: int) -> list[Session]:
    """A profile's conversations, latest first, those before a last time and name (inside `Database.memory`)."""
    at, name = before or (None, None)
    rows = await conn.fetch(SQL.sessions.page, scope.tenant_id, scope.user_id, scope.profile, at, name, limit)
    return [Session(*(row[name] for name in Session.__slots__)) for row in rows]


async def digest(conn: Connection, scope: Scope, session: str) -> dict[str, Any] | None:
    """What a session came to; None until it fell idle (inside `Database.memory`)."""
    found: dict[str, Any] | None = await conn.fetchval(SQL.sessions.digest, scope.tenant_id, scope.user_id, session)
    return found


async def learnt(conn: Connection, scope: Scope, session: str) -> list[tuple[Block, Block]]:
    """What was learnt in a session, in the order told, each with the last of what replaced it, else itself."""
    rows = await conn.fetch(SQL.sessions.learnt, scope.tenant_id, scope.user_id, session, _MOST_LEARNT)
    ids = {each for row in rows for each in (row["told"], row["last"])}
    known = {
        row["block_id"]: block_of(row) for row in await conn.fetch(SQL.sessions.blocks, scope.tenant_id, list(ids))
    }
    return [(known[row["told"]], known[row["last"]]) for row in rows if row["last"] in known]
