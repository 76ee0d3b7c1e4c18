"""Is a turn worth an extraction? Points by heuristics, before anything is paid for; the reasons go into the trace.

+3 code or configuration · +2 a preference · +2 a project, a person, a date · explicit "remember this" always passes.
Small talk scores nothing and stops here; so does a raw dump, whatever is in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nextlevel.lang import detect
from nextlevel.lang.tokens import content_words
from nextlevel.model import Turn

from .extract.found import Extraction
from .extract.rules.actions import FEWEST_CALLS
from .extract.rules.names import names
from .extract.rules.pack import Pack, load
from .extract.rules.stance import Why, without_dump

PASSES_AT = 1
_LONGEST = 4_000
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE = re.compile(
    r"`[^`\n]+`|\b\w{1,60}\(\)|(?<![\w-])[\w-]{1,60}\.(?:py|ts|js|go|rs|toml|ya?ml|json|md|sh|sql)\b|--[a-z][\w-]+|\b[A-Z][A-Z_]{3,}=|\bport\b|:\d{4,5}\b",
    re.IGNORECASE,
)
_FEWEST_OWN_WORDS = 3
"""Beside a paste, so many words of the user's own make it worth reading."""


_FEWEST_OPEN_WORDS = 2
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


def leaves_open(extraction: Extraction) -> bool:
    """Whether a model that reads the turn after the rules could still find something.

    It could where the rules found a statement, for they may have found half of it, or where they left something unread
    that shows a sign of substance: a name, a number, a word of rules or of form. Questions, stories, quotations and
    small talk are read, and nothing is in them.
    """
    unread = (each.text for each in extraction.dropped if each.why in (Why.NOTHING, Why.ONE_OFF))
    return bool(extraction.candidates) or any(_has_substance(text) for text in unread)


def _has_substance(text: str) -> bool:
    if len(content_words(text)) < _FEWEST_OPEN_WORDS:
        return False
    if _SIGN.search(text) or names(text):
        return True
    pack = load(detect.language(text))
    return pack is not None and (_prefers(text, pack) or pack.has("quirk", text))


def _prefers(text: str, pack: Pack) -> bool:
    return any(pack.has(cue, text) for cue in ("standing", "formatting", "first_taste", "directive_no", "correction"))
