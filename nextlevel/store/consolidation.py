"""What upkeep compares again: the active blocks that changed since it looked, and those that they may meet; and how
what it distilled from them comes apart."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from nextlevel.lang.tokens import words
from nextlevel.model import Block, BlockStatus, Scope, block_text

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


async def brought_back(conn: Connection, scope: Scope, block_ids: Collection[UUID]) -> set[UUID]:
    """Those of some active blocks that had been distilled into another, and hold again since that was taken apart."""
    rows = await conn.fetch(SQL.consolidation.brought_back, scope.tenant_id, list(block_ids))
    return {row["block_id"] for row in rows}


async def named_by_both(conn: Connection, scope: Scope, one: UUID, other: UUID) -> tuple[list[UUID], list[UUID]]:
    """The entities that two blocks both name: those that stand in their objects, and the rest."""
    rows = await conn.fetch(SQL.consolidation.named_by_both, scope.tenant_id, [one, other])
    return [r["entity_id"] for r in rows if r["as_object"]], [r["entity_id"] for r in rows if not r["as_object"]]


async def take_apart(conn: Connection, scope: Scope, turn_id: str, *, at: datetime) -> list[tuple[Block, list[Block]]]:
    """Let nothing hold that was distilled from a turn among others: that turn shows it no more.

    Returns each such block with those that it had been made of, which hold again and are not distilled any more.
    """
    apart = []
    # What was distilled from a distilled block and one more run comes apart step by step.
    while rows := await conn.fetch(SQL.consolidation.distilled_from, scope.tenant_id, turn_id):
        for each in map(block_of, rows):
            await blocks.retract(conn, scope, each, at=at, caused_by=turn_id)
            apart.append((each, await blocks.restore_replaced(conn, scope, each.id, caused_by=turn_id)))
    return apart
