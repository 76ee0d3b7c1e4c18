"""What upkeep compares again: the active blocks that changed lately, and those that they may meet."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from nextlevel.lang.tokens import words
from nextlevel.model import BlockStatus, Scope, block_text

from . import blocks
from .blocks import Rival, block_of
from .pool import Connection
from .scopes import scope_of
from .sql import SQL


async def active_scopes(conn: Connection, *, within_s: float, limit: int) -> list[Scope]:
    """The memories in which turns ended lately, the latest first (inside `Database.pipeline`)."""
    rows = await conn.fetch(SQL.consolidation.active_scopes, within_s, limit)
    return [scope_of(row) for row in rows]


async def fresh(conn: Connection, scope: Scope, *, within_s: float, limit: int) -> list[UUID]:
    """The active blocks that changed lately, the newest first."""
    rows = await conn.fetch(SQL.consolidation.fresh, scope.tenant_id, scope.readable, within_s, limit)
    return [row["block_id"] for row in rows]


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
    moved = await _moved(conn, scope, [each.block.id for each in found])
    here = [each for each in found if each.block.status is BlockStatus.ACTIVE and each.block.id not in moved]
    this = next((each for each in here if each.block.id == block_id), None)
    return this, [each for each in here if each is not this]


async def _moved(conn: Connection, scope: Scope, ids: Collection[UUID]) -> set[UUID]:
    rows = await conn.fetch(SQL.consolidation.moved, scope.tenant_id, list(ids))
    return {row["block_id"] for row in rows}
