"""Forgetting: delete, leave a tombstone so that a turn in flight can't bring it back, raise the generation.

One transaction, inside `Database.memory(scope)`: when it has committed, no rung may serve any of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from nextlevel.model import Scope

from . import blocks, consolidation, entities, judgements, passages, retractions, scopes, sessions, turns
from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went, the scopes' new generations for the caches, and the outboxes whose receipts must say so."""

    blocks: tuple[UUID, ...]
    generations: dict[UUID, int]
    installs: frozenset[str]


NOTHING = Forgotten((), {}, frozenset())


async def forget_blocks(
    conn: Connection, scope: Scope, block_ids: Sequence[UUID], *, at: datetime | None = None
) -> Forgotten:
    """Delete those of the blocks that this wall can see, with all that was derived from them.

    `at` (default: now) is when the person asked: the same fact told after it is news.
    """
    await blocks.lock(conn, scope)
    rows = await conn.fetch(SQL.forget.visible, scope.tenant_id, list(block_ids))
    if not rows:
        return NOTHING
    ids = [row["block_id"] for row in rows]
    for fact in sorted({row["hash"].hex() for row in rows}):
        await turns.tombstone(conn, scope, "fact", fact, at or datetime.now(UTC))
    hidden = await conn.fetch(SQL.forget.hide_sources, scope.tenant_id, ids)
    await conn.execute(SQL.forget.unlink_successors, scope.tenant_id, ids)
    await conn.execute(SQL.forget.scrub_extractions, scope.tenant_id, ids)
    await conn.execute(SQL.recalls.forget, scope.tenant_id, scope.user_id, ids)
    await retractions.forget(conn, scope, ids)
    await judgements.forget(conn, scope, {row["hash"] for row in rows})
    await conn.execute(SQL.forget.delete_blocks, scope.tenant_id, ids)
    await delete_orphans(conn, scope)
    told_in = [row["id"] for row in hidden]
    await _unsay(conn, scope, told_in)
    generations = await passages.forget(conn, told_in)
    generations |= await scopes.raise_generations(conn, scope, {row["scope_id"] for row in rows})
    return Forgotten(tuple(ids), generations, frozenset(row["install"] for row in hidden))


async def delete_orphans(conn: Connection, scope: Scope) -> None:
    """Delete entities that nothing speaks of any more, and with the last of them what was merged into them."""
    gone = False
    while await conn.execute(SQL.forget.delete_orphans, scope.tenant_id) != "DELETE 0":
        gone = True
    if gone:
        await entities.raise_revision(conn, scope)


async def retract_turn(conn: Connection, scope: Scope, turn_id: str, *, reason: str) -> Forgotten:
    """Take an undone turn back: what stood on it alone goes, what it had ended holds again; its number stays.

    Another person's turn is left alone, and one that has not arrived yet is stopped by its tombstone.
    """
    if not await conn.fetchval(SQL.forget.said_by, scope.tenant_id, turn_id, scope.user_id):
        return NOTHING
    # The words of an undone turn stay nowhere; what else had been distilled into one with it holds again.
    apart = await consolidation.take_apart(conn, scope, turn_id, at=datetime.now(UTC))
    distilled = [each.id for each, _ in apart]
    await conn.execute(SQL.recalls.forget, scope.tenant_id, scope.user_id, distilled)
    await conn.execute(SQL.forget.delete_blocks, scope.tenant_id, distilled)
    alone = await blocks.only_from(conn, scope, turn_id)
    restored = await blocks.undo_turn(conn, scope, turn_id, alone)
    gone = await forget_blocks(conn, scope, alone)
    await retractions.unsay(conn, scope, turn_id)
    await conn.execute(SQL.forget.detach_turn, scope.tenant_id, turn_id)
    await conn.execute(SQL.forget.scrub_turn, scope.tenant_id, turn_id)
    await _unsay(conn, scope, [turn_id])
    install = await conn.fetchval(SQL.forget.erase_turn, scope.tenant_id, turn_id, reason)
    generations = await passages.forget(conn, [turn_id])  # after: who is just making it holds the turn until then
    generations |= await scopes.raise_generations(conn, scope, restored | {each.scope_id for each, _ in apart})
    installs = gone.installs if install is None else gone.installs | {install}
    return Forgotten(gone.blocks, gone.generations | generations, installs)


async def _unsay(conn: Connection, scope: Scope, turn_ids: Sequence[str]) -> None:
    """What quotes these turns goes: their traces' texts, and the digests of their sessions, which are made anew."""
    await conn.execute(SQL.forget.scrub_trace, scope.tenant_id, list(turn_ids))
    await sessions.undigest(conn, scope, turn_ids)
