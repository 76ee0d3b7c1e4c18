"""Is b what a says, does it replace it, or is it news? As the store stage would decide where a is all that is known."""

from __future__ import annotations

from datetime import UTC, datetime, time
from typing import Any
from uuid import UUID

from nextlevel.model import Block, BlockStatus, Candidate, Category, Provenance

from ..steps import dedup, predicates
from .formats import Fact, Pair

_ID = UUID(int=0)


def predict(pair: Pair) -> dict[str, Any]:
    """One line for the scorer: the pair's id and our verdict."""
    new, known = _candidate(pair.b, pair.lang), _candidate(pair.a, pair.lang)
    if _hash(new) == _hash(known):
        return {"id": pair.id, "label": str(dedup.Verdict.SAME)}
    return {"id": pair.id, "label": str(dedup.decide(new, [_block(known, pair.a)]).verdict)}


def _candidate(fact: Fact, language: str) -> Candidate:
    """The fact as an extractor gives it: its predicate canonical where the table of phrases knows it."""
    predicate = predicates.canonical(fact.predicate, language) or fact.predicate
    object_ = fact.object
    if predicates.get(predicate).family == "saying":
        # The verb stands in the object then, as the extractors put it there.
        object_ = f"{fact.predicate} {object_}"
    return Candidate(
        type=fact.type,
        category=Category.PROJECT,
        subject=fact.subject,
        predicate=predicate,
        object=object_,
        confidence=0.8,
        provenance=Provenance.USER_STATED,
        span=f"{fact.subject} {fact.predicate} {fact.object}",
        rule="given",
        key=predicates.get(predicate).key,
    )


def _hash(candidate: Candidate) -> bytes:
    return dedup.fact_hash(
        candidate.subject, candidate.predicate, candidate.object, negated=candidate.negated, project=None
    )


def _block(candidate: Candidate, fact: Fact) -> Block:
    told_at = datetime.combine(fact.at, time.min, UTC)
    return Block(
        id=_ID,
        scope_id=_ID,
        type=candidate.type,
        category=candidate.category,
        subject=candidate.subject,
        predicate=candidate.predicate,
        object=candidate.object,
        key=candidate.key,
        value=candidate.value,
        context="",
        confidence=candidate.confidence,
        provenance=candidate.provenance,
        status=BlockStatus.ACTIVE,
        negated=candidate.negated,
        explicit=False,
        project=None,
        created_at=told_at,
        valid_from=told_at,
        valid_to=None,
        superseded_by=None,
    )
