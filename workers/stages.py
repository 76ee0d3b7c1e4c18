"""What each stage does with a turn it has claimed. Models are called before a transaction opens, never inside one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from nextlevel import log, receipts
from nextlevel.cache import publish_generations
from nextlevel.errors import EmbedderUnavailable, QueueUnreachable
from nextlevel.model import Block, Scope, TurnState
from nextlevel.store import blocks, entities, extractions, notes, recalls, scopes, trace, turns
from nextlevel.store.forget import NOTHING, Forgotten, forget_blocks, retract_turn
from nextlevel.store.pool import Connection
from nextlevel.store.turns import Claim

from . import judging
from .asking import hear
from .context import WorkerContext
from .outcomes import LeaseLost, Outcome
from .steps import apply, classify, found, pipeline
from .steps.link import Aliases, Heard, link

_RECALLED_WITHIN = timedelta(days=1)
"""How far back a session's recalls are looked at: what was shown earlier is no longer in its prompt."""

_log = log.get("workers")


async def extract_turn(ctx: WorkerContext, claim: Claim) -> Outcome:
    """Find what one turn says that is worth keeping, and hold it until it is linked."""
    window, shown = [], []
    if claim.kind == "turn":
        async with ctx.db.pipeline() as conn:
            window = await turns.window(conn, claim, limit=pipeline.WINDOW_TURNS)
        async with ctx.db.memory(claim.scope) as conn:
            shown = await recalls.shown_in(
                conn, claim.scope, claim.turn.session, since=claim.turn.at - _RECALLED_WITHIN
            )
    looked = pipeline.look(claim.turn, window, shown) if claim.kind in ("turn", "note") else None
    try:
        asked = await hear(ctx, claim, window, shown, looked)
        reading = pipeline.read(claim.kind, claim.turn, claim.body, window, asked.heard, shown, looked)
        async with ctx.db.memory(claim.scope) as conn:
            used, generations = await _use(conn, claim, reading.used, shown)
            facts = reading.facts | asked.facts | used
            await trace.add(conn, claim.scope.tenant_id, claim.turn.id, "extract", **facts)
            if reading.skip is not None:
                await _advance(conn, claim, TurnState.SKIPPED, reading.skip)
            else:
                content = found.to_json(reading.found)
                await extractions.save(conn, claim.scope, claim.turn.id, reading.extractor, content)
                await _advance(conn, claim, TurnState.EXTRACTED)
    except LeaseLost:
        return Outcome.LOST
    if generations:
        await _tell(ctx, NOTHING, generations)
    if reading.skip is not None:
        return Outcome.SKIPPED
    await _wake(ctx, "link", claim)
    return Outcome.ADVANCED


async def _use(
    conn: Connection, claim: Claim, used: Sequence[UUID], shown: Sequence[Block]
) -> tuple[dict[str, list[str]], dict[UUID, int]]:
    """Let the blocks that the assistant made use of live longer: what the trace says of it, and what it makes stale."""
    if not used:
        return {}, {}
    days = {block.id: classify.ttl_days(block.type) for block in shown if block.id in used}
    renewed, scopes_changed = await blocks.use(conn, claim.scope, days, at=claim.turn.at)
    generations = await scopes.raise_generations(conn, claim.scope, scopes_changed) if scopes_changed else {}
    return {"used": [str(block) for block in renewed]}, generations


async def link_turn(ctx: WorkerContext, claim: Claim) -> Outcome:
    """Name the known entities that the findings speak of. A proposal: store resolves again under the lock."""
    aliases = await known_names(ctx, claim.scope)
    async with ctx.db.pipeline() as conn:
        window = await turns.window(conn, claim, limit=pipeline.WINDOW_TURNS)
    try:
        async with ctx.db.memory(claim.scope) as conn:
            raw = found.from_json(await extractions.raw(conn, claim.scope, claim.turn.id))
            said = Heard.of(claim.turn, window, raw.candidates)
            linked = replace(raw, candidates=tuple(link(each, aliases, said) for each in raw.candidates))
            await extractions.link(conn, claim.scope, claim.turn.id, found.to_json(linked))
            entity_count = len({name for each in linked.candidates for name, _ in each.entities})
            doubts = {each.subject: list(each.may_be) for each in linked.candidates if each.may_be}
            facts = {"entities": entity_count} | ({"may_be": doubts} if doubts else {})
            await trace.add(conn, claim.scope.tenant_id, claim.turn.id, "link", **facts)
            await _advance(conn, claim, TurnState.LINKED)
    except LeaseLost:
        return Outcome.LOST
    await _wake(ctx, "store", claim)
    return Outcome.ADVANCED


async def store_turn(ctx: WorkerContext, claim: Claim) -> Outcome:
    """Apply the findings to memory: one transaction a turn, under the person's lock; then the caches are told."""
    async with ctx.db.memory(claim.scope) as conn:
        findings = found.from_json(await extractions.linked(conn, claim.scope, claim.turn.id))
    embedded = await _embed(ctx, findings)
    consulted = await judging.consult(ctx, claim, findings, embedded)
    try:
        async with ctx.db.memory(claim.scope) as conn:
            await blocks.lock(conn, claim.scope)
            gone, generations = await _change(conn, ctx, claim, findings, embedded, consulted)
    except LeaseLost:
        return Outcome.LOST
    await _tell(ctx, gone, generations)
    return Outcome.ADVANCED


async def _change(
    conn: Connection,
    ctx: WorkerContext,
    claim: Claim,
    findings: found.Found,
    embedded: apply.Embedded,
    consulted: dict[str, Any],
) -> tuple[Forgotten, dict[UUID, int]]:
    if await blocks.turn_is_tombstoned(conn, claim.scope, claim.turn.id):
        gone = await retract_turn(conn, claim.scope, claim.turn.id, reason="undone before it was stored")
        return gone, gone.generations
    if claim.kind == "forget":
        return await _forget(conn, claim)
    if claim.kind == "retract":
        return await _retract(conn, claim)
    if claim.kind == "note" and not await notes.stands(conn, claim.scope, claim.turn.session, claim.body):
        gone = await retract_turn(conn, claim.scope, claim.turn.id, reason="its document changed or was taken out")
        return gone, gone.generations
    applied = await apply.apply(
        conn, claim, findings, embedded, review_below=ctx.settings.review_below, judges=judging.judges(ctx)
    )
    if claim.kind == "note":
        told = claim.turn
        applied.scopes |= await notes.end(conn, claim.scope, [told.session], at=told.at, caused_by=told.id, but=told.id)
    generations = await scopes.raise_generations(conn, claim.scope, applied.scopes)
    await trace.add(
        conn,
        claim.scope.tenant_id,
        claim.turn.id,
        "store",
        **applied.counts,
        changes=applied.notes,
        embedded=embedded.rows is not None,
        **consulted,
    )
    await _advance(conn, claim, TurnState.STORED)
    return NOTHING, generations


async def _forget(conn: Connection, claim: Claim) -> tuple[Forgotten, dict[UUID, int]]:
    """A forget that was asked for while the service was away. Several that fit: nothing goes, and the turn says so."""
    wanted = await pipeline.to_forget(conn, claim)
    if len(wanted) > 1:
        await _advance(
            conn, claim, TurnState.SKIPPED, f"it fits {len(wanted)} memories: nothing was forgotten, name one"
        )
        return NOTHING, {}
    gone = await forget_blocks(conn, claim.scope, wanted, at=claim.turn.at)
    await trace.add(conn, claim.scope.tenant_id, claim.turn.id, "forget", blocks=len(gone.blocks))
    reason = None if gone.blocks else "nothing fits: it is not in memory"
    await _advance(conn, claim, TurnState.STORED if gone.blocks else TurnState.SKIPPED, reason)
    return gone, gone.generations


async def _retract(conn: Connection, claim: Claim) -> tuple[Forgotten, dict[UUID, int]]:
    generations: dict[UUID, int] = {}
    installs: set[str] = set()
    gone_blocks: list[UUID] = []
    for ref in claim.body.get("turns", []):
        gone = await retract_turn(conn, claim.scope, str(ref), reason="undone")
        generations |= gone.generations
        installs |= gone.installs
        gone_blocks += gone.blocks
    await trace.add(conn, claim.scope.tenant_id, claim.turn.id, "retract", blocks=len(gone_blocks))
    await _advance(conn, claim, TurnState.STORED)
    return Forgotten(tuple(gone_blocks), generations, frozenset(installs)), generations


async def known_names(ctx: WorkerContext, scope: Scope) -> Aliases:
    """The person's names, those read that came since the last time."""
    async with ctx.db.memory(scope) as conn:
        aliases = ctx.aliases.get(scope.user_id, await entities.revision(conn, scope))
        aliases.add(await entities.aliases(conn, scope, after=aliases.last))
    return aliases


async def _embed(ctx: WorkerContext, findings: found.Found) -> apply.Embedded:
    embedder = ctx.embedder
    if embedder is None or not findings.candidates:
        return apply.Embedded()
    try:
        rows = await embedder.passages(apply.texts(findings))
    except EmbedderUnavailable as error:
        _log.warning("stored_unembedded", error=str(error))
        return apply.Embedded()
    return apply.Embedded(embedder.model, rows)


async def _advance(conn: Connection, claim: Claim, to: TurnState, reason: str | None = None) -> None:
    if not await turns.advance(conn, claim, to, reason):
        raise LeaseLost


async def _wake(ctx: WorkerContext, stage: str, claim: Claim) -> None:
    # After the commit: a crash, or a Redis that is away, between the two is the reconciler's to mend.
    try:
        await ctx.queue.wake(stage, claim.scope.tenant_id, claim.turn.id, claim.fence)
    except QueueUnreachable as error:
        _log.warning("wake_failed", stage=stage, turn_id=claim.turn.id, error=str(error))


async def _tell(ctx: WorkerContext, gone: Forgotten, generations: dict[UUID, int]) -> None:
    """Let the caches and outboxes know. A Redis that is away is told by upkeep, each minute."""
    try:
        await publish_generations(ctx.redis, generations)
        await receipts.publish(ctx.db, ctx.redis, gone.installs)
    except QueueUnreachable as error:
        _log.warning("caches_untold", error=str(error))
