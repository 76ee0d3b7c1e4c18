"""What repeated runs of a workflow have in common becomes one procedure, which stands for them: upkeep distils it.

From runs of different sessions in one project, that the person told or accepted; what waits in review takes no part,
nor does work in no project. Never said, so it is inferred, and no surer than a habit. The runs end in it with versions
and links, as in any merge, and hold again where one of them is rejected or undone; they are not distilled again then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid5

from nextlevel.cache import publish_generations
from nextlevel.lang.normal import normal_name
from nextlevel.model import Block, BlockType, EntityType, Provenance, Scope
from nextlevel.store import blocks, consolidation, entities, scopes
from nextlevel.store.blocks import NewBlock, Rival
from nextlevel.store.pool import Connection

from .context import WorkerContext
from .steps import classify, dedup
from .steps.applied import search_terms
from .steps.workflow import common_steps, generalised

FEWEST_SESSIONS = 2
_CAUSE = "distilled"
_TRUSTED = frozenset({Provenance.USER_STATED, Provenance.USER_ACCEPTED, Provenance.INFERRED})


async def distil(ctx: WorkerContext, scope: Scope, this: Rival, others: Sequence[Rival]) -> int:
    """Look for other runs of a procedure, without the lock; under it write what is shared. Returns how many ended."""
    runs = await asyncio.to_thread(_runs, this, others) if _may_take_part(this.block) else []
    if not runs:
        return 0
    found = {each.block.id for each in runs}
    async with ctx.db.memory(scope) as conn:
        await blocks.lock(conn, scope)
        again, others = await consolidation.again(conn, scope, this.block.id, found)
        apart = await consolidation.brought_back(conn, scope, {this.block.id, *found})
        runs = [] if again is None or again.block.id in apart else _runs(again, others)
        partner = next((each for each in runs if each.block.id not in apart), None)
        ended = 0 if again is None or partner is None else await _join(conn, scope, again, partner)
        generations = await scopes.raise_generations(conn, scope, {this.block.scope_id} if ended else ())
    await publish_generations(ctx.redis, generations)
    return ended


def _runs(this: Rival, others: Sequence[Rival]) -> list[Rival]:
    """The runs of the same workflow: first those that share most steps; of several what was distilled before."""
    shared = [(len(steps), each) for each in others if (steps := _shared(this, each))]
    shared.sort(key=lambda run: (-run[0], not _is_distilled(run[1].block), run[1].told[0], run[1].block.id))
    return [each for _, each in shared]


def _shared(one: Rival, other: Rival) -> list[str]:
    """The common steps of two blocks that may be runs of one workflow."""
    if not (_may_take_part(one.block) and _may_take_part(other.block)):
        return []
    if _project(one.block) != _project(other.block) or len(one.sessions | other.sessions) < FEWEST_SESSIONS:
        return []
    if one.block.explicit != other.block.explicit:
        return []  # what the person asked to have remembered does not end in what nobody asked for
    return common_steps(one.block.object, other.block.object)


def _may_take_part(block: Block) -> bool:
    lasting = block.type is BlockType.PROCEDURAL and block.valid_to is None and not block.negated
    return lasting and block.provenance in _TRUSTED and _project(block) is not None


def _project(block: Block) -> str | None:
    """Where it belongs: a run bears its project before its task."""
    named = block.project or (block.subject.partition(": ")[0] if ": " in block.subject else "")
    return normal_name(named) or None


def _is_distilled(block: Block) -> bool:
    return block.provenance is Provenance.INFERRED


async def _join(conn: Connection, scope: Scope, one: Rival, other: Rival) -> int:
    """Let two runs end in what they share: where one was distilled before and says just that, in that one."""
    earlier, later = sorted((one, other), key=lambda each: (each.told[-1], each.block.id))
    made = _block(earlier, later)
    for kept, run in ((one, other), (other, one)):
        if _is_distilled(kept.block) and kept.block.object == made.object:
            await _confirm(conn, scope, kept.block, run, made)
            return 1
    fact = dedup.hash_of(made)
    if await blocks.forgotten_facts(conn, scope, [fact], later.told[-1]):
        return 0
    living = await blocks.same_fact(conn, scope, made.scope_id, fact)
    if living is not None and living.id not in (one.block.id, other.block.id):
        return 0  # one that was had back, or waits in review
    subject = await entities.resolve(conn, scope, made.subject, EntityType.TOPIC)
    if subject is None:
        return 0  # two names became none
    objects, mentioned = await consolidation.named_by_both(conn, scope, one.block.id, other.block.id)
    for run in (earlier, later):
        await blocks.supersede(conn, scope, run.block, by=made.id, at=made.valid_from, caused_by=_CAUSE)
    await blocks.insert(conn, scope, NewBlock(made, fact, subject, classify.ttl_days(made.type)), search_terms(made))
    await blocks.add_links(conn, scope, made, subject, objects, mentioned)
    for run in (earlier, later):
        await blocks.share_sources(conn, scope, run, made.id)
    return 2


async def _confirm(conn: Connection, scope: Scope, known: Block, run: Rival, made: Block) -> None:
    """One more run of what was distilled before."""
    await blocks.share_sources(conn, scope, run, known.id)
    await blocks.confirm(
        conn,
        scope,
        known,
        confidence=max(known.confidence, made.confidence),
        status=known.status,
        provenance=known.provenance,
        ttl_days=classify.ttl_days(known.type),
        since=known.valid_from,
        caused_by=str(run.block.id),
    )
    await blocks.supersede(conn, scope, run.block, by=known.id, at=run.block.valid_from, caused_by=_CAUSE)


def _block(earlier: Rival, later: Rival) -> Block:
    """What two runs share, as a block of its own that holds since the later one."""
    first, last = earlier.block, later.block
    sessions = len(earlier.sessions | later.sessions)
    # 0.6 for two sessions, a little more for each further one, as habits are; what was asked for keeps its own.
    sure = min(classify.most_sure(Provenance.INFERRED), 0.6 + 0.02 * (sessions - FEWEST_SESSIONS))
    return replace(
        last,
        id=uuid5(last.id, f"distilled with {first.id}"),
        subject=generalised(first.subject, last.subject) or last.subject,
        object="; ".join(common_steps(first.object, last.object)),
        context=f"what {len({*earlier.told, *later.told})} runs in {sessions} sessions have in common; never said",
        confidence=min(first.confidence, last.confidence) if last.explicit else sure,
        provenance=Provenance.INFERRED,
        created_at=datetime.now(UTC),
        valid_from=max(first.valid_from, last.valid_from),
    )
