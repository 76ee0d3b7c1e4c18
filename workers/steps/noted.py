"""What of a note becomes memory, where its folder was imported for that: a few plain facts, each by its own subject.

A note is what somebody wrote down, not what the user said of themself to the agent. So it tells no preference and gives
no rule, takes nothing back and corrects nobody; and it is as trusted as an import, however surely it is put. The rules
were made for talk, in which people say what is so; prose explains. Of it they keep only what is told in few words, by
predicates that are about something named: half a sentence of a manual is no fact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nextlevel.model import BlockType, Candidate, Provenance, Turn

from .classify import needs_review
from .extract.found import Dropped, Extraction
from .extract.rules.focus import told_project
from .extract.rules.names import technology

MOST = 5
"""Facts of a note: what is general about it. The rest is looked up."""
_MOST_SUBJECT_WORDS, _MOST_OBJECT_WORDS = 3, 6
_SLOTS = frozenset(
    {"runs_on_port", "uses_database", "has_version", "has_url", "has_address", "located_at", "has_email"}
)
_VAGUE = frozenset({"is", "has", "means", "knows", "noted", "behaves", "needs"})
"""By these anything may be told, "answers are to be given in French" too."""
_THE_AGENT = frozenset({"agent", "assistant", "assistent", "asystent", "ai", "ki", "bot", "chatbot", "model", "hermes"})


def distilled(read: Extraction, note: Turn) -> Extraction:
    """The facts of a note, and what of it is none, with the reason."""
    dropped, project = [*read.dropped], told_project(note)
    facts: list[Candidate] = []
    for each in read.candidates:
        if (why := _why_not(each, project)) is None:
            facts.append(replace(each, project=project, provenance=Provenance.IMPORTED, explicit=False, corrects=False))
        else:
            dropped.append(Dropped(each.span, why))
    return Extraction(tuple(facts), tuple(dropped))


def few(facts: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The facts that a note may tell, in their order: plain ones before what waits in review, the surest first."""
    first = sorted(facts, key=lambda each: (needs_review(each, review_below=0), -each.confidence))[:MOST]
    return tuple(each for each in facts if each in first)


def _why_not(candidate: Candidate, project: str | None) -> str | None:
    subject = candidate.subject.casefold()
    if candidate.type is BlockType.USER_PREFERENCE or subject == "user":
        return "nobody said it of themself"
    if subject.startswith("user's "):
        return "whose it is, the note does not say"
    if subject in _THE_AGENT:
        return "of the agent itself"
    if subject not in candidate.span.casefold() and candidate.subject != project:
        return "of whom or what, its line does not say"
    if candidate.valid_to is not None:
        return "not for long"
    if candidate.provenance is not Provenance.USER_STATED:
        return "quoted"
    return None if _is_plain(candidate) else "not plain enough"


def _is_plain(candidate: Candidate) -> bool:
    """Whether it tells of something named, in few words. A model has read the sentence: its predicate is enough."""
    if candidate.rule.endswith("model"):
        return candidate.predicate not in _VAGUE
    if len(candidate.subject.split()) > _MOST_SUBJECT_WORDS:
        return False
    if candidate.rule == "procedure":
        return "," not in candidate.subject
    names = {name for name, _ in candidate.entities}
    is_technology = technology().fullmatch(candidate.subject) is not None
    if len(candidate.object.split()) > _MOST_OBJECT_WORDS:
        return False
    match candidate.predicate:
        case "on_host":
            return any(name in candidate.object for name in names)
        case "uses":
            named = " " not in candidate.subject or candidate.subject in names
            return named and not is_technology and technology().search(candidate.object) is not None
        case "works_on" | "responsible_for" | "led_by" | "has_role":
            return candidate.rule != "statement" and not is_technology
        case predicate:
            return predicate in _SLOTS
