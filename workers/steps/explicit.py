"""What was written down to be remembered, in so many words: kept as said, typed where the rules understand it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Candidate, Category, Provenance, Turn
from nextlevel.safety import injection, invisible

from . import classify
from .extract import extract
from .extract.rules.focus import told_project

LONGEST = 2_000
"""Characters of one explicit memory; what is longer is a document."""

_CATEGORY = {
    BlockType.USER_PREFERENCE: Category.WORKFLOW,
    BlockType.PROJECT_STATE: Category.PROJECT,
    BlockType.LEARNED_PATTERN: Category.SKILL,
    BlockType.ENTITY_RELATIONSHIP: Category.CONTACT,
    BlockType.PROCEDURAL: Category.WORKFLOW,
}


def candidates(turn: Turn, body: dict[str, Any]) -> tuple[Sequence[Candidate], str | None]:
    """The candidates of a remember event, or the reason why there is none."""
    text = invisible.clean(turn.user_text).strip()
    if not text:
        return (), "there is nothing to remember: the text is empty"
    if len(text) > LONGEST:
        return (), f"too long to be one memory: {len(text)} characters, at most {LONGEST}"
    pattern = injection.suspicious(text)
    if pattern is not None:
        return (), f"it gives orders to the agent ({pattern}): not kept"
    understood = extract(replace(turn, user_text=text, assistant_text="", tools=()), ()).candidates
    kind = _type_of(body)
    if understood and _say_it_all(understood, text):
        return [_asked_for(classify.classify(each), kind) for each in understood], None
    understood_as = understood[0].type if understood else BlockType.LEARNED_PATTERN
    return [_as_said(text, kind or understood_as, turn, body)], None


def core_candidates(turn: Turn, body: dict[str, Any]) -> tuple[Sequence[Candidate], str | None]:
    """The candidates of an entry of the host's own memory: the agent wrote it, before the user's eyes."""
    kind = BlockType.USER_PREFERENCE if body.get("target") == "user" else BlockType.LEARNED_PATTERN
    found, refused = candidates(turn, {})
    return [_by_the_agent(each, kind) for each in found], refused


def _by_the_agent(candidate: Candidate, kind: BlockType) -> Candidate:
    as_said = candidate.rule == "explicit"
    return replace(
        candidate,
        type=kind if as_said else candidate.type,
        category=_CATEGORY[kind] if as_said else candidate.category,
        rule="core_memory" if as_said else candidate.rule,
        explicit=False,
        provenance=Provenance.USER_ACCEPTED,
        confidence=min(candidate.confidence, 0.85),
    )


def _say_it_all(understood: Sequence[Candidate], text: str) -> bool:
    """True if what the rules understood holds every content word of what was asked for: else it is kept as said."""
    said = " ".join(f"{each.subject} {each.predicate} {each.object} {each.key}" for each in understood)
    return set(content_words(text)) <= set(content_words(said.replace("_", " ")))


def _asked_for(candidate: Candidate, kind: BlockType | None) -> Candidate:
    return replace(
        candidate,
        type=kind or candidate.type,
        explicit=True,
        provenance=Provenance.USER_STATED,
        confidence=max(candidate.confidence, 0.95),
    )


def _as_said(text: str, kind: BlockType, turn: Turn, body: dict[str, Any]) -> Candidate:
    project = body.get("project") or told_project(turn)
    return Candidate(
        type=kind,
        category=_CATEGORY[kind],
        subject=str(project) if project and kind is not BlockType.USER_PREFERENCE else "user",
        predicate="noted",
        object=text,
        confidence=0.95,
        provenance=Provenance.USER_STATED,
        span=text,
        rule="explicit",
        explicit=True,
        project=str(project) if project else None,
    )


def _type_of(body: dict[str, Any]) -> BlockType | None:
    try:
        return BlockType(body["type"])
    except (KeyError, ValueError):
        return None
