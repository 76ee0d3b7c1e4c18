"""What upkeep compares again: the active blocks that changed since it looked, and those that they may meet."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from nextlevel.lang.tokens import words
from nextlevel.model import BlockStatus, Scope, block_text

from . import blocks
from .blocks import Rival, block_of
from .pool import Connection
from .scopes import wall_of
from .sql import SQL


async def scopes_to_compare(conn: Connection, *, limit: int) -> list[Scope]:
    """Walls around scopes in which blocks changed that were not compared yet (inside `Database.pipeline`)."""
    rows = await conn.fetch(SQL.consolidation.scopes_to_compare, limit)
    return [wall_of(row) for row in rows]


async def take(conn: Connection, scope: Scope, *, limit: int) -> tuple[list[UUID], bool]:
    """The blocks of a wall's scope that changed next, of those that hold; and whether more may follow.

    They count as compared from here on, whatever becomes of the caller: it is upkeep, and the next change brings them
    back. Under the person's lock, so that none is skipped that a store is just writing.
    """
    rows = await conn.fetch(SQL.consolidation.take, scope.tenant_id, scope.profile_scope, limit)
    return [row["block_id"] for row in rows if row["holds"]], len(rows) >= limit


async def neighbours(conn: Connection, scope: Scope, block_id: UUID) -> tuple[Rival | None, list[Rival]]:
    """A block with when it was told, and the active ones of its scope that it may meet; None if it is active no more.

    Without what a merge of entities moved: a split must find that as it was.
    """
    row = await conn.fetchrow(SQL.consolidation.living, scope.tenant_id, block_id)
    if row is None or row["subject_entity"] is None:
        return None, []
    block = block_of(row)
    terms = words(block_text(block.subject, block.predicate, block.object, negated=block.negated))
    found = await blocks.rivals(conn, scope, block.scope_id, row["subject_entity"], terms, block.valid_from)
    return await _told_apart(conn, scope, block_id, found)


async def again(
    conn: Connection, scope: Scope, block_id: UUID, others: Collection[UUID]
) -> tuple[Rival | None, list[Rival]]:
    """The same of a few blocks, as they stand now."""
    return await _told_apart(conn, scope, block_id, await blocks.told(conn, scope, {block_id, *others}))


async def _told_apart(
    conn: Connection, scope: Scope, block_id: UUID, found: Collection[Rival]
) -> tuple[Rival | None, list[Rival]]:
    rows = await conn.fetch(SQL.consolidation.moved, scope.tenant_id, [each.block.id for each in found])
    moved = {row["block_id"] for row in rows}
    here = [each for each in found if each.block.status is BlockStatus.ACTIVE and each.block.id not in moved]
    this = next((each for each in here if each.block.id == block_id), None)
    return this, [each for each in here if each is not this]
