"""Is a turn worth an extraction, and after the rules, is a model worth its price? The reasons go into the trace.

Before anything is read, points by heuristics:

+3 code or configuration · +2 a preference · +2 a project, a person, a date · explicit "remember this" always passes.
Small talk scores nothing and stops here; so does a raw dump, whatever is in it. Where a model is to be had, it is
asked only of what the rules, which cost nothing, left open.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from nextlevel.lang import detect
from nextlevel.lang.dump import without_dump
from nextlevel.lang.normal import clauses
from nextlevel.lang.tokens import content_words
from nextlevel.model import Candidate, Provenance, Turn

from .extract.found import Dropped, Extraction
from .extract.rules.actions import FEWEST_CALLS
from .extract.rules.engine import HEAD_CLAUSES, LONGEST_HEAD, LONGEST_TAIL, TAIL_CLAUSES
from .extract.rules.names import names
from .extract.rules.pack import Pack, load
from .extract.rules.stance import Why, unfit

PASSES_AT = 1
_LONGEST = 4_000
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(
    r"`[^`\n]+`|\b\w{1,60}\(\)|(?<![\w-])[\w-]{1,60}\.(?:py|ts|js|go|rs|toml|ya?ml|json|md|sh|sql)\b|--[a-z][\w-]+|\b[A-Z][A-Z_]{3,}=|\bport\b|:\d{4,5}\b",
    re.IGNORECASE,
)
_FEWEST_OWN_WORDS = 3
"""Beside a paste, so many words of the user's own make it worth reading."""
_FEWEST_OPEN_WORDS, _LONG_WORDS = 2, 5
"""Content words: fewer that are unread are no matter, so many are one whatever they are."""
_TOLD, _MOST_TOLD = 80, 20
"""Characters of a piece that a reason shows, and reasons of a turn: a paste may leave hundreds open."""
_LOOKED_THROUGH = 30_000
"""Characters of a long turn in which prose is looked for that the rules left out: about what a model can be shown."""
_SIGN = re.compile(r"[\d`]|(?<=\w\s)[A-ZÀ-ÞŁŚŻŹĆ]\w+")
"""A digit, a code mark, a capital inside a sentence."""


@dataclass(frozen=True, slots=True)
class Score:
    """Points of a turn and what gave them."""

    points: int
    reasons: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether the turn goes on to extraction."""
        return self.points >= PASSES_AT


def score(turn: Turn) -> Score:
    """How much a turn promises. 0 or less stops it; the reasons say why either way."""
    text = _FENCE.sub(" ", turn.user_text[:_LONGEST])
    pack = load(detect.language(text))
    if pack is not None and pack.has("explicit", text):
        return Score(10, ("explicit",))
    if len(turn.tools) >= FEWEST_CALLS:
        return Score(5, ("workflow",))
    if pack is not None and pack.has("retract", text):
        return Score(5, ("retraction",))
    if pack is not None and pack.match("accept", text.strip()):
        return Score(2, ("acceptance",))
    text, pasted = without_dump(text)
    if pasted and len(content_words(text)) < _FEWEST_OWN_WORDS:
        return Score(0, ("dump",))
    found: list[tuple[int, str]] = []
    if _CODE.search(text):
        found.append((3, "code"))
    if pack is not None and _prefers(text, pack):
        found.append((2, "preference"))
    if names(text) or re.search(r"\d", text):
        found.append((2, "project"))
    if len(content_words(text)) >= 3:
        found.append((1, "statement"))
    if not found:
        return Score(0, ("chitchat",))
    return Score(sum(points for points, _ in found), tuple(reason for _, reason in found))


def left_open(turn: Turn, extraction: Extraction) -> tuple[str, ...]:
    """What a model that reads the turn after the rules could still find: a reason for each piece; nothing where all was
    read.

    Open is what the rules found nothing in though it shows a sign of substance or is long, what they found half of, a
    wish that reads like a rule, a question that only a cue makes one, a yes to something that they did not understand,
    and prose in the middle of a message that was too long for them. Questions, stories, quotations and small talk are
    read, and nothing is in them.
    """
    asked = [clause.text for clause in clauses(turn.user_text[:_LONGEST]) if clause.ends == "?"]
    cut = any(each.why == Why.CUT for each in extraction.dropped)
    found = [f"left out: {text[:_TOLD]}" for text in islice(_left_out(turn), 1 if cut else 0)]
    found += [f"{why}: {text[:_TOLD]}" for why, text in _half_read(extraction)]
    for each in extraction.dropped:
        if (why := _why_open(each, asked)) is not None:
            found.append(f"{why}: {each.text[:_TOLD]}")
    accepts = "acceptance" in score(turn).reasons
    if accepts and all(each.provenance is not Provenance.USER_ACCEPTED for each in extraction.candidates):
        found.append("accepts something")
    return tuple(found[:_MOST_TOLD])


def _left_out(turn: Turn) -> Iterator[str]:
    """Sentences of substance that stand in the middle of a long turn, where the rules did not read."""
    text, _ = without_dump(turn.user_text[:_LOOKED_THROUGH])
    said = clauses(text)
    for place, clause in enumerate(said):
        by_length = LONGEST_HEAD <= clause.start < len(turn.user_text) - LONGEST_TAIL
        by_count = HEAD_CLAUSES <= place < len(said) - TAIL_CLAUSES
        if (by_length or by_count) and unfit(clause) is None and len(content_words(clause.text)) >= _LONG_WORDS:
            yield clause.text


def _half_read(extraction: Extraction) -> Iterator[tuple[str, str]]:
    """The pieces of which candidates were made that leave out what else was said."""
    by_span: dict[str, list[Candidate]] = defaultdict(list)
    for each in extraction.candidates:
        by_span[each.span].append(each)
    for span, made in by_span.items():
        told = {word for each in made for word in content_words(_said(each))}
        if len(set(content_words(span)) - told) >= _FEWEST_OPEN_WORDS:
            yield "half read", span


def _said(candidate: Candidate) -> str:
    predicate = candidate.predicate.replace("_", " ")
    return f"{candidate.subject} {predicate} {candidate.object} {candidate.key} {candidate.value}"


def _why_open(dropped: Dropped, asked: Sequence[str]) -> str | None:
    size = len(content_words(dropped.text))
    if dropped.why == Why.NOTHING and (size >= _LONG_WORDS or _has_substance(dropped.text)):
        return "unread"
    if dropped.why == Why.ONE_OFF and _reads_like_a_rule(dropped.text):
        return "may be a rule"
    if dropped.why == Why.QUESTION and size >= _FEWEST_OWN_WORDS and not any(dropped.text in each for each in asked):
        return "may be no question"
    return None


def _has_substance(text: str) -> bool:
    if len(content_words(text)) < _FEWEST_OPEN_WORDS:
        return False
    return bool(_SIGN.search(text) or names(text)) or _reads_like_a_rule(text)


def _reads_like_a_rule(text: str) -> bool:
    pack = load(detect.language(text))
    return pack is not None and (_prefers(text, pack) or pack.has("quirk", text))


def _prefers(text: str, pack: Pack) -> bool:
    return any(pack.has(cue, text) for cue in ("standing", "formatting", "first_taste", "directive_no", "correction"))
