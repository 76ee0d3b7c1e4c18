"""The end of blocks that nobody used for as long as they live: they are believed no more, and can be read still."""

from __future__ import annotations

from uuid import UUID

from nextlevel.model import Scope

from .pool import Connection
from .scopes import wall_of
from .sql import SQL


async def outlived_scopes(conn: Connection, *, limit: int) -> list[Scope]:
    """Walls behind which blocks have outlived their time, each around one scope (inside `Database.pipeline`)."""
    rows = await conn.fetch(SQL.expiry.outlived_scopes, limit)
    return [wall_of(row) for row in rows]


async def expire(conn: Connection, scope: Scope, *, limit: int) -> list[UUID]:
    """Let outlived blocks of a scope expire (inside `Database.memory`, under the person's lock); those blocks."""
    rows = await conn.fetch(SQL.expiry.expire, scope.tenant_id, scope.profile_scope, limit)
    return [row["block_id"] for row in rows]


async def count(conn: Connection) -> dict[str, int]:
    """How many blocks wait to expire, and how many did within a day (inside `Database.pipeline`)."""
    (row,) = await conn.fetch(SQL.expiry.count)
    return dict(row)
