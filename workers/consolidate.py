"""Blocks that say the same, or of which one says the other more exactly, become one: upkeep compares again.

Storing compares a fact with what it finds at that moment. A fact that waited in review, or was stored under older
rules, can still stand beside another. The rules and the writes are those of the store stage, so that lineage, history
and undo are the same. What replaces something is not looked for: that is for whoever tells it. Bounded, and each block
in a transaction of its own, so that a turn waits for one comparison at most.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from nextlevel import log
from nextlevel.cache import publish_generations
from nextlevel.model import Provenance, Scope
from nextlevel.store import blocks, consolidation, scopes
from nextlevel.store.blocks import Rival
from nextlevel.store.pool import Connection

from .context import WorkerContext
from .steps import classify, dedup
from .steps.dedup import Relation
from .steps.extract.rules.focus import NOBODYS

SCOPES_AT_ONCE, BLOCKS_AT_ONCE = 50, 200
_WITHIN_S = 2 * 3600.0
_CAUSE = "consolidation"

_log = log.get("upkeep")


async def consolidate(ctx: WorkerContext) -> int:
    """Compare anew what changed in the last two hours. Returns how many blocks were merged into others."""
    async with ctx.db.pipeline() as conn:
        active = await consolidation.active_scopes(conn, within_s=_WITHIN_S, limit=SCOPES_AT_ONCE)
    merged = 0
    for scope in active:
        async with ctx.db.memory(scope) as conn:
            fresh = await consolidation.fresh(conn, scope, within_s=_WITHIN_S, limit=BLOCKS_AT_ONCE)
        merged += sum([await _merge(ctx, scope, block_id) for block_id in fresh])
    if merged:
        _log.info("blocks_consolidated", blocks=merged)
    return merged


async def _merge(ctx: WorkerContext, scope: Scope, block_id: UUID) -> int:
    async with ctx.db.memory(scope) as conn:
        await blocks.lock(conn, scope)
        this, others = await consolidation.neighbours(conn, scope, block_id)
        if this is None:
            return 0
        merged = 0
        for kept, gone, relation in await asyncio.to_thread(_pairs, this, others):
            await _absorb(conn, scope, kept, gone, relation)
            merged += 1
            if gone is this:
                break
        changed = {this.block.scope_id} if merged else set()
        generations = await scopes.raise_generations(conn, scope, changed)
    await publish_generations(ctx.redis, generations)
    return merged


def _pairs(this: Rival, others: Sequence[Rival]) -> list[tuple[Rival, Rival, Relation]]:
    """Which block is kept, which goes, and why: of two that say the same the first told, else the more exact one."""
    found: list[tuple[Rival, Rival, Relation]] = []
    for other in others:
        if not (_may_merge(this) and _may_merge(other)):
            continue
        earlier, later = sorted((this, other), key=lambda each: (each.told[0], each.block.id))
        how = dedup.relate(later.block, earlier.block)
        if how is None:
            continue
        if how.relation is Relation.SAME:
            found.append((earlier, later, how.relation))
        elif how.relation is Relation.REFINES and how.covers:
            found.append((later, earlier, how.relation))
    return found


def _may_merge(each: Rival) -> bool:
    """Not what holds for a time only, what upkeep inferred, and what is said of a project that nobody named."""
    block = each.block
    unnamed = block.subject == NOBODYS and block.project is None
    return block.valid_to is None and block.provenance is not Provenance.INFERRED and not unnamed


async def _absorb(conn: Connection, scope: Scope, kept: Rival, gone: Rival, relation: Relation) -> None:
    known, other = kept.block, gone.block
    if relation is Relation.SAME:
        await blocks.share_sources(conn, scope, gone, known.id)
        voucher = classify.more_trusted(known.provenance, other.provenance)
        await blocks.confirm(
            conn,
            scope,
            known,
            confidence=max(known.confidence, other.confidence),
            status=known.status,
            provenance=voucher,
            ttl_days=classify.ttl_days(known.type),
            since=other.valid_from,
            caused_by=_CAUSE,
        )
    # Of the same nothing ends: the block that is kept stands for it from its start.
    at = other.valid_from if relation is Relation.SAME else known.valid_from
    await blocks.supersede(conn, scope, other, by=known.id, at=at, caused_by=_CAUSE)
