"""What habits are learnt from: who was active, a person's turns under all profiles, and the preferences they have."""

from __future__ import annotations

from nextlevel.model import Block, Scope, Turn

from .blocks import block_of
from .pool import Connection
from .sql import SQL
from .turns import turn_of


async def active_people(conn: Connection, *, within_s: float, limit: int) -> list[Scope]:
    """Walls around the shared memory of people whose turns ended lately (inside `Database.pipeline`)."""
    rows = await conn.fetch(SQL.habits.active_people, within_s, limit)
    return [Scope(row["tenant_id"], row["user_id"], "", row["user_scope"], row["user_scope"]) for row in rows]


async def turns(conn: Connection, scope: Scope, *, days: int, limit: int) -> list[Turn]:
    """A person's last turns, oldest first (inside `Database.memory`)."""
    rows = await conn.fetch(SQL.habits.turns, scope.tenant_id, scope.user_id, days, limit)
    return [turn_of(row) for row in reversed(rows)]


async def tastes(conn: Connection, scope: Scope) -> list[Block]:
    """A person's living preferences, newest first (inside `Database.memory`)."""
    return [block_of(row) for row in await conn.fetch(SQL.habits.tastes, scope.tenant_id, scope.user_scope)]
