"""What of a note becomes memory, where its folder was imported for that: a few plain facts, each by its own subject.

A note is what somebody wrote down, not what the user said of themself to the agent. So it tells no preference and gives
no rule, takes nothing back and corrects nobody; and it is as trusted as an import, however surely it is put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nextlevel.model import BlockType, Candidate, Provenance

from .classify import needs_review
from .extract.found import Dropped, Extraction
from .extract.rules.focus import NOBODYS

MOST = 5
"""Facts of a note: what is general about it. The rest is looked up."""
_THE_AGENT = frozenset({"agent", "assistant", "assistent", "asystent", "ai", "ki", "bot", "chatbot", "model", "hermes"})
_PLAIN = frozenset({BlockType.PROJECT_STATE, BlockType.ENTITY_RELATIONSHIP})
"""What no person looks at first. Patterns and procedures of an import wait in review."""
_VAGUE = frozenset({"is", "has", "means", "knows", "noted"})
"""By these anything may be told, "answers are to be given in French" too."""


def distilled(read: Extraction) -> Extraction:
    """The facts of a note, and what of it is none, with the reason."""
    dropped = [*read.dropped]
    facts: list[Candidate] = []
    for each in read.candidates:
        if (why := _why_not(each)) is None:
            facts.append(replace(each, provenance=Provenance.IMPORTED, explicit=False, corrects=False))
        else:
            dropped.append(Dropped(each.span, why))
    return Extraction(tuple(facts), tuple(dropped))


def few(facts: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The facts that a note may tell, in their order: plain ones before what waits in review, the surest first."""
    first = sorted(facts, key=lambda each: (needs_review(each, review_below=0), -each.confidence))[:MOST]
    return tuple(each for each in facts if each in first)


def _why_not(candidate: Candidate) -> str | None:
    if candidate.type is BlockType.USER_PREFERENCE or candidate.subject == "user":
        return "nobody said it of themself"
    if candidate.subject.startswith("user's "):
        return "whose it is, the note does not say"
    if candidate.subject.casefold() in _THE_AGENT:
        return "of the agent itself"
    if candidate.predicate in _VAGUE and candidate.type in _PLAIN:
        return "not plain enough"
    if candidate.subject == NOBODYS and candidate.project is None:
        return "of which project, the note does not say"
    if candidate.valid_to is not None:
        return "not for long"
    return None if candidate.provenance is Provenance.USER_STATED else "quoted"
