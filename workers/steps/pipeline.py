"""The steps of reading a turn, in their order, and nothing else: pre-filter, extract, merge, classify."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Turn
from nextlevel.store import blocks
from nextlevel.store.pool import Connection
from nextlevel.store.turns import Claim

from . import classify, explicit, prefilter
from .extract import extract
from .extract.llm import Heard
from .extract.llm import read as read_answer
from .extract.merge import merged
from .found import Found

__all__ = ["EXTRACTOR", "WINDOW_TURNS", "Reading", "asks_a_model", "read", "to_forget"]

EXTRACTOR = "rules-1"
"""Stored with what it found, so that a later version can be told from it."""

WINDOW_TURNS = 6
"""Turns before this one that an extractor sees: what "it", "that" and "no, the other one" mean stands there."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a turn came to: findings, or the reason to skip it; and the facts for the trace."""

    found: Found = field(default_factory=Found)
    skip: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    extractor: str = EXTRACTOR


def asks_a_model(kind: str, turn: Turn) -> bool:
    """Whether a language model, where there is one, is worth its price: small talk and raw dumps stop before it."""
    return kind == "turn" and prefilter.score(turn).passes


def read(kind: str, turn: Turn, body: dict[str, Any], window: Sequence[Turn], heard: Heard | None = None) -> Reading:
    """Read one turn event of any kind that has stages to go through. `heard` is what a language model said of it."""
    if kind == "remember":
        return _remember(turn, body)
    if kind == "turn":
        return _turn(turn, window, heard)
    return Reading(facts={"kind": kind})  # forget and retract: what they say is done in the store stage


def _turn(turn: Turn, window: Sequence[Turn], heard: Heard | None) -> Reading:
    score = prefilter.score(turn)
    facts: dict[str, Any] = {"points": score.points, "reasons": list(score.reasons)}
    if not score.passes:
        return Reading(skip=f"not worth reading: {', '.join(score.reasons)}", facts=facts)
    extraction = extract(turn, window)
    extractor = EXTRACTOR
    if heard is not None:
        extraction = merged(extraction, read_answer(heard, turn, window))
        extractor = f"{EXTRACTOR}+{heard.model}@{heard.prompt}"
        facts["model"] = heard.facts
    candidates = tuple(classify.classify(candidate) for candidate in extraction.candidates)
    facts |= {
        "candidates": len(candidates),
        "rules": Counter(candidate.rule for candidate in candidates),
        "dropped": [{"text": each.text[:200], "why": each.why} for each in extraction.dropped[:50]],
        "retractions": len(extraction.retractions),
    }
    if not candidates and not extraction.retractions:
        return Reading(skip="nothing worth keeping was said", facts=facts, extractor=extractor)
    return Reading(Found(candidates, tuple(extraction.retractions)), facts=facts, extractor=extractor)


def _remember(turn: Turn, body: dict[str, Any]) -> Reading:
    candidates, refused = explicit.candidates(turn, body)
    facts = {"candidates": len(candidates), "explicit": True}
    if refused is not None:
        return Reading(skip=refused, facts=facts)
    return Reading(Found(tuple(candidates)), facts=facts)


async def to_forget(conn: Connection, claim: Claim) -> list[UUID]:
    """The blocks that a forget event means: by id, or those that hold every content word of its text."""
    if "block" in claim.body:
        try:
            return [UUID(str(claim.body["block"]))]
        except ValueError:
            return []
    text = str(claim.body.get("text", ""))
    wanted = set(content_words(text))
    near = await blocks.near_words(conn, words(text), limit=20)
    return [
        block.id
        for block in near
        if wanted and wanted <= set(content_words(f"{block.subject} {block.predicate} {block.object} {block.context}"))
    ]
