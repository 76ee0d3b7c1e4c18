"""Type, shelf, life and standing of a candidate, by rule: what goes to recall, and what a person must look at first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from nextlevel.model import BlockType, Candidate, Category, Provenance

from . import predicates

_TTL_DAYS: Final = {
    BlockType.USER_PREFERENCE: 365,
    BlockType.PROJECT_STATE: 90,
    BlockType.LEARNED_PATTERN: 180,
    BlockType.ENTITY_RELATIONSHIP: 365,
    BlockType.PROCEDURAL: 180,
}

# The most that each voucher's word is worth, and the types that it may not make by itself (DESIGN.md §4).
_CAP: Final = {
    Provenance.USER_STATED: 1.0,
    Provenance.USER_ACCEPTED: 0.9,
    Provenance.TOOL_OBSERVED: 0.8,
    Provenance.INFERRED: 0.7,
    Provenance.ASSISTANT_STATED: 0.4,
    Provenance.DOCUMENT: 0.6,
    Provenance.IMPORTED: 0.8,
}
_ORDERS: Final = frozenset({BlockType.USER_PREFERENCE, BlockType.PROCEDURAL, BlockType.LEARNED_PATTERN})
_TRUSTED: Final = frozenset({Provenance.USER_STATED, Provenance.USER_ACCEPTED})
# Words that came into the conversation from elsewhere: whatever they say, a person looks first.
_FOREIGN: Final = frozenset({Provenance.DOCUMENT, Provenance.ASSISTANT_STATED})
_BY_TRUST: Final = tuple(Provenance)
_SLOT_TYPES: Final = frozenset({BlockType.PROJECT_STATE, BlockType.USER_PREFERENCE})
_EXPLICIT: Final = 0.9
_CONTEXT: Final = 300
_CALENDAR: Final = (datetime(1000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC))
"""What is said to have begun before, or to end after, is cut to this: to the year 9999 no life can be added."""


def classify(candidate: Candidate) -> Candidate:
    """The candidate with its final type, category and confidence; its context cut to 300 characters, its dates to the
    years 1000 to 2999.

    A slot's predicate decides the type. What the user asked to remember is certain, whatever the pattern thought of it;
    what somebody else says is never more certain than its provenance allows.
    """
    known = predicates.get(candidate.predicate)
    kind = known.type if known.type in _SLOT_TYPES and known.key else candidate.type
    confidence = candidate.confidence
    if candidate.explicit and candidate.provenance is Provenance.USER_STATED:
        confidence = max(confidence, _EXPLICIT)
    return replace(
        candidate,
        type=kind,
        category=_category(kind, candidate.category),
        confidence=min(confidence, _CAP[candidate.provenance]),
        context=candidate.context[:_CONTEXT],
        valid_from=_in_calendar(candidate.valid_from),
        valid_to=_in_calendar(candidate.valid_to),
    )


def _in_calendar(moment: datetime | None) -> datetime | None:
    first, last = _CALENDAR
    return None if moment is None else min(max(moment, first), last)


def needs_review(candidate: Candidate, *, review_below: float) -> bool:
    """Whether a person looks before recall shows it: not sure enough (0..1), told by someone who may not tell it, or of
    one of several who bear the name.

    A preference, a pattern or a procedure comes from the user, or from what the user accepted; never from a tool's
    result or an import by itself. What a pasted text or the assistant says is looked at whatever it is; a plain fact of
    the environment that a tool observed is not.
    """
    gives_orders = candidate.type in _ORDERS and candidate.provenance not in _TRUSTED
    foreign = candidate.provenance in _FOREIGN
    return gives_orders or foreign or bool(candidate.may_be) or candidate.confidence < review_below


def more_trusted(one: Provenance, other: Provenance) -> Provenance:
    """Of two that tell the same, the one whose word counts more."""
    return min(one, other, key=_BY_TRUST.index)


def most_sure(voucher: Provenance) -> float:
    """The most confidence (0..1) that repeated tellings can give while nobody better vouches: a text that is pasted
    ten times is no truer."""
    return _CAP[voucher]


def ttl_days(kind: BlockType) -> int:
    """How many days a block of this type lives after it was last used (SPEC.md)."""
    return _TTL_DAYS[kind]


def _category(kind: BlockType, category: Category) -> Category:
    """A preference is about form or about work; the shelves of projects and people are for facts."""
    if kind is BlockType.USER_PREFERENCE and category in (Category.PROJECT, Category.CONTACT):
        return Category.WORKFLOW
    return category
