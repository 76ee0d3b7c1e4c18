"""Write what was found into memory: resolve names, compare, insert, confirm or replace. Once, under a lock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID, uuid5

from nextlevel.inference import Vectors
from nextlevel.lang.tokens import words
from nextlevel.model import Block, BlockStatus, BlockType, Candidate, Provenance
from nextlevel.store import blocks, consolidation, entities, habits, judgements, retractions
from nextlevel.store.blocks import NewBlock, Rival
from nextlevel.store.pool import Connection
from nextlevel.store.turns import Claim

from . import choices, classify, dedup, retraction, timeline
from .applied import Applied, search_terms
from .dedup import Judged, Verdict
from .fact import Fact, sentence
from .found import Found
from .timeline import Place

MOST_CONFIDENT = 0.99
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The candidates' vectors, row by row; none where the embedder was down: upkeep makes them later."""

    model: str = ""
    rows: Vectors | None = None


async def apply(
    conn: Connection,
    claim: Claim,
    found: Found,
    embedded: Embedded,
    *,
    review_below: float,
    judges: Sequence[str] = (),
) -> Applied:
    """Apply one turn's findings inside the store transaction. The caller holds the person's lock.

    `judges` are the models whose verdicts, held from before, count where the rules can't decide.
    """
    applied = Applied()
    facts = [Fact.of(claim, candidate) for candidate in found.candidates]
    # A line that stays in a note is not told anew each time that the note changes.
    told_at = _LONG_AGO if claim.kind == "note" else claim.turn.at
    forgotten = await blocks.forgotten_facts(conn, claim.scope, [fact.hash for fact in facts], told_at)
    for number, fact in enumerate(facts):
        vector = None if embedded.rows is None else embedded.rows[number]
        if fact.hash in forgotten:
            applied.counts["forgotten"] += 1
            continue
        block = await _remember(conn, claim, fact, applied, review_below, judges)
        if block is not None and vector is not None:
            await blocks.add_embedding(conn, claim.scope, fact.scope_id, block.id, embedded.model, vector)
    await retraction.settle_later(conn, claim, applied.blocks.values(), applied)
    await retraction.take_back(conn, claim, found.retractions, applied)
    if found.rejects is not None:
        await _take_back(conn, claim, found.rejects, applied)
    return applied


def texts(found: Found) -> list[str]:
    """What is embedded for each candidate, in their order."""
    return [sentence(candidate) for candidate in found.candidates]


async def _remember(
    conn: Connection, claim: Claim, fact: Fact, applied: Applied, review_below: float, judges: Sequence[str]
) -> Block | None:
    """Give a fact its place in memory. The block that it became; None where it is none of its own."""
    candidate = fact.candidate
    subject = await entities.resolve(conn, claim.scope, candidate.subject, fact.kind)
    if subject is None:
        applied.note("dropped", fact.text, "its subject is no name")
        return None
    status = BlockStatus.REVIEW if classify.needs_review(candidate, review_below=review_below) else BlockStatus.ACTIVE
    exact = await blocks.same_fact(conn, claim.scope, fact.scope_id, fact.hash)
    if exact is not None and (exact.status is BlockStatus.REVIEW or exact.valid_from <= fact.since):
        await _confirm(conn, claim, fact, exact, status, applied, "the same fact")
        return None
    rivals = await blocks.rivals(conn, claim.scope, fact.scope_id, subject, words(fact.text), fact.since)
    judged = await _judged(conn, claim, fact, rivals, judges)
    rivals = _as_they_count(fact, rivals)
    place = timeline.place(candidate, fact.since, fact.told_at, claim.turn.session, rivals, judged)
    if candidate.provenance is Provenance.IMPORTED and any(not _is_imported(each) for each in place.closes):
        status = BlockStatus.REVIEW  # what somebody said is not replaced by what stands in a file: a person decides
    if place.confirms is None and candidate.provenance is Provenance.ASSISTANT_STATED:
        # A guess, or what some rung of recall had shown it: the user's yes would have made it theirs.
        applied.note("dropped", fact.text, "only the assistant said it")
        return None
    if status is not BlockStatus.ACTIVE:
        place = replace(place, closes=(), ended_by=None, absorbs=(), resumes=None)
    known, why = (None if place.confirms is None else place.confirms.block), place.why
    if known is None and place.end == (None, None) and place.resumes is None:
        # Held already, since later: one copy of a fact lives, whatever else it was compared with.
        known, why = exact, "the same fact, told later"
    if known is not None:
        if await _confirm(conn, claim, fact, known, status, applied, why):
            await _end_rivals(conn, claim, fact, place, known.id, applied)
        return None
    block = await _insert(conn, claim, fact, subject, status, place, applied)
    applied.changed(block, "stored" if status is BlockStatus.ACTIVE else "review", place.why, fact.text)
    if block.type is BlockType.USER_PREFERENCE and status is BlockStatus.ACTIVE:
        await _end_habits(conn, claim, block, applied)
    return block


def _as_they_count(fact: Fact, rivals: Sequence[Rival]) -> list[Rival]:
    """The rivals of a fact. What stands in a file ends nothing that somebody said, whichever is the later."""
    if fact.candidate.provenance is Provenance.IMPORTED:
        return list(rivals)
    return [replace(each, told=(min(each.told[0], fact.told_at),)) if _is_imported(each) else each for each in rivals]


def _is_imported(rival: Rival) -> bool:
    return rival.block.provenance is Provenance.IMPORTED


async def _judged(conn: Connection, claim: Claim, fact: Fact, rivals: Sequence[Rival], judges: Sequence[str]) -> Judged:
    """What models said before of a fact beside each of its rivals, whichever of the two was told later."""
    if not judges:
        return timeline.RULES_ALONE
    known = [dedup.hash_of(rival.block) for rival in rivals]
    pairs = [(fact.hash, each) for each in known] + [(each, fact.hash) for each in known]
    held = await judgements.held(conn, claim.scope, pairs, judges)
    return Judged({pair: Verdict(verdict) for pair, verdict in held.items() if verdict is not None})


async def _end_rivals(conn: Connection, claim: Claim, fact: Fact, place: Place, by: UUID, applied: Applied) -> None:
    """End what a fact replaces where it begins, and at once what was told later and says less: it stands for that."""
    ends = [(closed.block, fact.since) for closed in place.closes]
    ends += [(absorbed.block, absorbed.block.valid_from) for absorbed in place.absorbs]
    for block, at in ends:
        await blocks.supersede(conn, claim.scope, block, by=by, at=at, caused_by=claim.turn.id)
        applied.changed(block, "superseded", place.why)


async def _end_habits(conn: Connection, claim: Claim, stated: Block, applied: Applied) -> None:
    """The person's own word replaces what upkeep had inferred about the same kind of tool."""
    for taste in await habits.tastes(conn, claim.scope):
        if taste.provenance is Provenance.INFERRED and choices.speaks_of(stated.object, taste.key or ""):
            await blocks.supersede(
                conn, claim.scope, taste, by=stated.id, at=stated.valid_from, caused_by=claim.turn.id
            )
            applied.changed(taste, "superseded", "said, no longer inferred")


async def _confirm(
    conn: Connection, claim: Claim, fact: Fact, known: Block, status: BlockStatus, applied: Applied, why: str
) -> bool:
    """The same fact again adds a source and confidence, never a row. False: it was no news.

    The assistant's own word adds neither: it restates what it knows from us.
    """
    if fact.candidate.provenance is Provenance.ASSISTANT_STATED:
        await blocks.use(conn, claim.scope, {known.id: classify.ttl_days(known.type)}, at=fact.told_at)
        applied.note("used", fact.text, "the assistant restates it")
        return False
    if not await blocks.add_source(conn, claim.scope, known.id, claim.turn.id, fact.candidate.span, fact.told_at):
        return False
    # Two independent tellings that are wrong by chance: 1 − (1 − a)(1 − b), the second counted for a half.
    surer = min(MOST_CONFIDENT, 1 - (1 - known.confidence) * (1 - fact.candidate.confidence / 2))
    voucher = classify.more_trusted(known.provenance, fact.candidate.provenance)
    surer = min(surer, classify.most_sure(voucher))
    better = BlockStatus.ACTIVE if status is BlockStatus.ACTIVE and known.status is BlockStatus.REVIEW else known.status
    await blocks.confirm(
        conn,
        claim.scope,
        known,
        confidence=max(known.confidence, surer),
        status=better,
        provenance=voucher,
        ttl_days=classify.ttl_days(known.type),
        since=fact.since,
        caused_by=claim.turn.id,
    )
    applied.changed(known, "confirmed", why, fact.text)
    return True


async def _insert(
    conn: Connection, claim: Claim, fact: Fact, subject: UUID, status: BlockStatus, place: Place, applied: Applied
) -> Block:
    candidate, since = fact.candidate, fact.since
    # From the turn and the fact: a store that is run again makes the same block.
    block_id = uuid5(claim.scope.tenant_id, f"{claim.turn.id}\x1f{fact.scope_id}\x1f{fact.hash.hex()}")
    end, successor = place.end
    if place.resumes is not None and place.resumes_at is not None:
        told_as = await blocks.told_as(conn, claim.scope, place.resumes.block, place.resumes_at)
        end, successor = place.resumes_at, told_as or uuid5(block_id, "resumed")
    ends = [each for each in (candidate.valid_to, end) if each is not None]
    block = Block(
        id=block_id,
        scope_id=fact.scope_id,
        type=candidate.type,
        category=candidate.category,
        subject=candidate.subject,
        predicate=candidate.predicate,
        object=candidate.object,
        key=candidate.key,
        value=candidate.value,
        context=candidate.context[:300],
        confidence=candidate.confidence,
        provenance=candidate.provenance,
        status=status if successor is None else BlockStatus.SUPERSEDED,
        negated=candidate.negated,
        explicit=candidate.explicit,
        project=candidate.project,
        created_at=datetime.now(UTC),
        valid_from=since,
        valid_to=max(since, min(ends)) if ends else None,
        superseded_by=successor,
    )
    new = NewBlock(block, fact.hash, subject, classify.ttl_days(block.type))
    await blocks.insert(conn, claim.scope, new, search_terms(block))
    await _end_rivals(conn, claim, fact, place, block.id, applied)
    await blocks.add_source(conn, claim.scope, block.id, claim.turn.id, candidate.span, fact.told_at)
    await _link(conn, claim, block, candidate, subject)
    if place.resumes is not None and end is not None and successor is not None:
        again = place.resumes.block
        terms = search_terms(again)
        await blocks.resume(conn, claim.scope, again, anew=successor, at=end, words=terms, caused_by=claim.turn.id)
        await retractions.follow(conn, claim.scope, again.id, successor, after=end)
        applied.blocks[successor] = again
    return block


async def _link(conn: Connection, claim: Claim, block: Block, candidate: Candidate, subject: UUID) -> None:
    """The entities that a block names: those in its object are edges, all are mentions."""
    objects: list[UUID] = []
    mentioned: list[UUID] = []
    for name, kind in candidate.entities:
        entity = await entities.resolve(conn, claim.scope, name, kind)
        if entity is None:
            continue
        (objects if name.casefold() in candidate.object.casefold() else mentioned).append(entity)
    await blocks.add_links(conn, claim.scope, block, subject, objects, mentioned)


async def _take_back(conn: Connection, claim: Claim, rejected: str, applied: Applied) -> None:
    """The user rejects what was done in the turn before: what only its deeds taught holds no more, and what that had
    replaced holds again. So does what was distilled into one with it."""
    for block, parts in await consolidation.take_apart(conn, claim.scope, rejected, at=claim.turn.at):
        applied.changed(block, "retracted", f"{rejected} was rejected")
        for part in parts:
            applied.changed(part, "restored", f"{rejected} was rejected")
    for block in await blocks.learnt_from_deeds(conn, claim.scope, rejected):
        await blocks.retract(conn, claim.scope, block, at=claim.turn.at, caused_by=claim.turn.id)
        applied.changed(block, "retracted", f"{rejected} was rejected")
        for old in await blocks.restore_replaced(conn, claim.scope, block.id, caused_by=claim.turn.id):
            applied.changed(old, "restored", f"{rejected} was rejected")
