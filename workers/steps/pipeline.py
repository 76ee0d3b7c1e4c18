"""The steps of reading a turn, in their order, and nothing else.

echo (cut what recall showed) · rejection · pre-filter · extract by rules · a model, merge · guard · classify · worth
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Block, Candidate, Turn, block_text
from nextlevel.safety.redact import redact
from nextlevel.store import blocks
from nextlevel.store.pool import Connection
from nextlevel.store.turns import Claim

from . import classify, echo, explicit, guard, noted, prefilter, rejection, worth
from .extract import Dropped, Extraction, extract
from .extract.grounding import read as read_answer
from .extract.llm import Heard, summed
from .extract.merge import merged
from .extract.rules.stance import Why
from .found import Found

__all__ = ["EXTRACTOR", "WINDOW_TURNS", "Look", "Reading", "look", "read", "to_forget"]

EXTRACTOR = "rules-1"
"""Name and version of the extractor, stored with what it found; a new number allows old turns to be read again."""

WINDOW_TURNS = 6
"""Turns before this one that an extractor sees: what "it", "that" and "no, the other one" mean stands there."""

_TRACED = 200
_MOST_TRACED = 50
"""Characters of a text, and texts of a turn, that the trace shows."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What reading a turn came to: findings, or the reason to skip it; and the facts for the trace.

    `used` are the blocks that the assistant made use of.
    """

    found: Found = field(default_factory=Found)
    skip: str | None = None
    used: tuple[UUID, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    extractor: str = EXTRACTOR


@dataclass(frozen=True, slots=True)
class Look:
    """A turn as the rules see it, before any model is asked.

    `turn` is without recalled lines that were pasted, of which there were `pasted`; `extraction` is None where it is
    not worth reading.
    """

    turn: Turn
    pasted: int
    used: tuple[UUID, ...]
    rejects: str | None
    score: prefilter.Score
    extraction: Extraction | None

    def left_open(self) -> tuple[str, ...]:
        """What a language model could still find, so that it is worth its price."""
        return () if self.extraction is None else prefilter.left_open(self.turn, self.extraction)


def look(told: Turn, window: Sequence[Turn], shown: Sequence[Block] = ()) -> Look:
    """What costs nothing: echoes out, points, and the rules. `shown` is what recall showed in the turn's session."""
    turn, pasted = echo.without_pasted(told, shown)
    rejects = rejection.rejected(turn, window)
    score = prefilter.score(turn)
    extraction = extract(turn, window) if score.passes or rejects is not None else None
    return Look(turn, pasted, echo.restated(turn, shown), rejects, score, extraction)


def read(
    kind: str,
    turn: Turn,
    body: dict[str, Any],
    window: Sequence[Turn],
    heard: Sequence[Heard] = (),
    shown: Sequence[Block] = (),
    looked: Look | None = None,
) -> Reading:
    """Read one turn event of any kind that has stages to go through.

    `heard` is what a language model said of its parts, `shown` what recall showed in its session, `looked` what `look`
    saw in it, where that was asked before.
    """
    if kind == "remember":
        return _explicit(turn, explicit.candidates(turn, body))
    if kind == "core_write":
        return _explicit(turn, explicit.core_candidates(turn, body))
    if kind == "turn":
        return _turn(looked or look(turn, window, shown), window, heard, shown)
    if kind == "note":
        # Never skipped: what its document told before, and says no more, is closed with it.
        return replace(_turn(looked or look(turn, ()), (), heard, (), note=True), skip=None)
    return Reading(facts={"kind": kind})  # forget and retract: what they say is done in the store stage


def _turn(
    seen: Look, window: Sequence[Turn], heard: Sequence[Heard], shown: Sequence[Block], *, note: bool = False
) -> Reading:
    turn, used, rejects, score, extraction = seen.turn, seen.used, seen.rejects, seen.score, seen.extraction
    facts: dict[str, Any] = {"points": score.points, "reasons": list(score.reasons)}
    facts |= {"echoes": seen.pasted} if seen.pasted else {}
    facts |= {"rejects": rejects} if rejects is not None else {}
    if extraction is None:
        return Reading(skip=f"not worth reading: {', '.join(score.reasons)}", used=used, facts=facts)
    extractor = EXTRACTOR
    if heard:
        extraction = merged(extraction, read_answer(heard, turn, window))
        model = facts["model"] = summed(heard)
        extractor = f"{EXTRACTOR}+{model['model']}@{model['prompt']}"
    extraction = noted.distilled(extraction, turn) if note else extraction
    own, others = _own(extraction.candidates, shown)
    safe, unsafe = guard.guard(own, turn)
    dropped = [*extraction.dropped, *unsafe, *others]
    kept, judged = _judged(safe, turn, dropped)
    if note:
        kept, all_ = noted.few(kept), kept
        facts |= {"left_to_the_library": len(all_) - len(kept)}
    facts |= judged | {"retractions": len(extraction.retractions)}
    found = Found(kept, tuple(extraction.retractions), rejects)
    if found.empty:
        return Reading(skip="nothing worth keeping was said", used=used, facts=facts, extractor=extractor)
    return Reading(found, used=used, facts=facts, extractor=extractor)


def _own(candidates: Iterable[Candidate], shown: Sequence[Block]) -> tuple[list[Candidate], list[Dropped]]:
    """What the turn itself states; an echo of recall, and the words that reject, state nothing."""
    own: list[Candidate] = []
    others: list[Dropped] = []
    for each in candidates:
        why = "echo" if echo.is_echo(each, shown) else "rejection" if rejection.only_rejects(each.span) else None
        if why is None:
            own.append(each)
        else:
            others.append(Dropped(each.span, why))
    return own, others


def _judged(
    candidates: Iterable[Candidate], turn: Turn, dropped: Sequence[Dropped]
) -> tuple[tuple[Candidate, ...], dict[str, Any]]:
    """What is worth keeping, and for the trace all that was weighed, each with the branch that decided."""
    kept: list[Candidate] = []
    left = [{"text": _traced(each), "why": each.why, "branch": worth.of_drop(each.why)} for each in dropped]
    told = []
    for candidate in map(classify.classify, candidates):
        judgement = worth.judge(candidate, turn.at)
        if judgement.shelf is None:
            left.append({"text": candidate.span[:_TRACED], "why": "not_worth_it", "branch": judgement.branch})
            continue
        kept.append(candidate)
        told.append(
            {
                "text": block_text(
                    candidate.subject, candidate.predicate, candidate.object[:_TRACED], negated=candidate.negated
                ),
                "branch": judgement.branch,
                "shelf": judgement.shelf,
                "type": candidate.type,
                "confidence": round(candidate.confidence, 2),
                "rule": candidate.rule,
            }
        )
    rules = Counter(candidate.rule for candidate in kept)
    facts = {"candidates": len(kept), "rules": rules, "kept": told[:_MOST_TRACED], "dropped": left[:_MOST_TRACED]}
    return tuple(kept), facts


def _traced(dropped: Dropped) -> str:
    """What the trace shows of a drop: of a secret only what stands around its placeholder."""
    if dropped.why == Why.SECRET and "[redacted:" not in dropped.text:
        return ""
    return redact(dropped.text[:_TRACED]).text


def _explicit(turn: Turn, asked: tuple[Sequence[Candidate], str | None]) -> Reading:
    """What somebody wrote down to be remembered, or the reason why it is not kept."""
    candidates, refused = asked
    facts: dict[str, Any] = {"candidates": len(candidates), "explicit": True}
    if refused is not None:
        return Reading(skip=refused, facts=facts)
    safe, unsafe = guard.guard(candidates, turn)
    kept, judged = _judged(safe, turn, unsafe)
    if not kept:
        return Reading(skip=f"not kept: {', '.join(sorted({each.why for each in unsafe}))}", facts=facts | judged)
    return Reading(Found(kept), facts=facts | judged)


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
