"""Blocks that say the same, or of which one says the other more exactly, become one: upkeep compares again. What runs
of one workflow have in common is distilled from them (`distil`).

Storing compares a fact with what it finds at that moment. A fact that waited in review, or was stored under older
rules, can still stand beside another. The rules and the writes are those of the store stage, so that lineage, history
and undo are the same. What replaces something is not looked for: that is for whoever tells it. Bounded in time: a
scope's changes are taken in order, and what a run has no time for the next one compares.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from uuid import UUID

from nextlevel import log
from nextlevel.cache import publish_generations
from nextlevel.model import Provenance, Scope
from nextlevel.store import blocks, consolidation, scopes
from nextlevel.store.blocks import Rival
from nextlevel.store.pool import Connection

from .context import WorkerContext
from .distil import distil
from .steps import classify, dedup
from .steps.dedup import Relation
from .steps.extract.rules.focus import NOBODYS

SCOPES_AT_ONCE, BLOCKS_AT_ONCE = 50, 20
LONGEST_RUN_S = 10.0
_CAUSE = "consolidation"

_log = log.get("upkeep")


async def consolidate(ctx: WorkerContext) -> int:
    """Compare what changed since the last look, some of each scope in turn. Returns how many blocks ended in others."""
    until = time.monotonic() + LONGEST_RUN_S
    merged = 0
    async with ctx.db.pipeline() as conn:
        waiting = await consolidation.scopes_to_compare(conn, limit=SCOPES_AT_ONCE)
    while waiting and time.monotonic() < until:
        scope = waiting.pop(0)
        async with ctx.db.memory(scope) as conn:
            await blocks.lock(conn, scope)
            changed, more = await consolidation.take(conn, scope, limit=BLOCKS_AT_ONCE)
        merged += sum([await _compare(ctx, scope, block_id) for block_id in changed])
        if more:
            waiting.append(scope)
    if merged:
        _log.info("blocks_consolidated", blocks=merged)
    return merged


async def _compare(ctx: WorkerContext, scope: Scope, block_id: UUID) -> int:
    """Compare one block without the lock, which in a large scope takes a while; under it only what was found."""
    async with ctx.db.memory(scope) as conn:
        await blocks.plan_each(conn)
        this, others = await consolidation.neighbours(conn, scope, block_id)
    if this is None:
        return 0
    return await _merge(ctx, scope, this, others) + await distil(ctx, scope, this, others)


async def _merge(ctx: WorkerContext, scope: Scope, this: Rival, others: Sequence[Rival]) -> int:
    pairs = await asyncio.to_thread(_pairs, this, others)
    if not pairs:
        return 0
    found = {each.block.id for kept, gone, _ in pairs for each in (kept, gone)}
    async with ctx.db.memory(scope) as conn:
        await blocks.lock(conn, scope)
        again, others = await consolidation.again(conn, scope, this.block.id, found)
        merged = 0
        for kept, gone, relation in [] if again is None else _pairs(again, others):
            await _absorb(conn, scope, kept, gone, relation)
            merged += 1
            if gone is again:
                break
        generations = await scopes.raise_generations(conn, scope, {scope.profile_scope} if merged else ())
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
