"""What documents told memory, where their import asked for it. Inside `Database.memory`, under the person's lock.

A document tells by a turn of kind note each time that it changes. What the last of them tells is memory, what only
earlier ones told is history: closed, and not deleted, since the document may say it again, or another may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from nextlevel.model import Scope

from . import blocks
from .pool import Connection
from .sql import SQL


def address(folder: str, path: str) -> str:
    """Where a document stands, as the source of a block: the session of the turns by which it tells."""
    return f"{folder}/{path}"


async def stands(conn: Connection, scope: Scope, session: str, body: Mapping[str, Any]) -> bool:
    """Whether a document still reads as the turn says that tells of it: else it was changed or taken out meanwhile."""
    folder, path, hash_ = (str(body.get(name, "")) for name in ("folder", "path", "hash"))
    if session != address(folder, path):
        return False
    return bool(await conn.fetchval(SQL.notes.stands, scope.tenant_id, scope.profile_scope, folder, path, hash_))


async def turns(conn: Connection, scope: Scope, addresses: Sequence[str]) -> list[str]:
    """The turns by which some documents told, oldest first."""
    rows = await conn.fetch(SQL.notes.turns, scope.tenant_id, scope.user_id, scope.profile_scope, list(addresses))
    return [row["id"] for row in rows]


async def end(
    conn: Connection, scope: Scope, addresses: Sequence[str], *, at: datetime, caused_by: str, but: str | None = None
) -> set[UUID]:
    """Close what only these documents told, but for what the turn `but` tells; what it had replaced holds again.

    The scopes that changed.
    """
    earlier = [turn for turn in await turns(conn, scope, addresses) if turn != but]
    if not earlier:
        return set()
    changed = set()
    for row in await conn.fetch(SQL.notes.alone, scope.tenant_id, earlier):
        block = blocks.block_of(row)
        await blocks.retract(conn, scope, block, at=at, caused_by=caused_by)
        # Not an earlier form of the same document: that was replaced when it was written anew.
        await blocks.restore_replaced(conn, scope, block.id, caused_by=caused_by, but_told_by=earlier)
        changed.add(block.scope_id)
    await conn.execute(SQL.notes.detach, scope.tenant_id, earlier)
    return changed
