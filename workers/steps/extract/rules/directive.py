"""Rules and tastes of the user: "never …", "use X, not Y", "I prefer …", "no emojis", "headings in sentence case"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Category

from .pack import Pack

_TRIM = " ,.:;!-–—"
_MOST_BEFORE_TASTE = 24
"""Characters before "I prefer" that only say where it holds: "in TypeScript i prefer …"."""
_PLEASE = re.compile(r"(?:^|\s)(?:please|pls|bitte)(?=[\s,.!]|$)", re.IGNORECASE)
_SOMEWHERE = re.compile(r"(?:in|on|at|from|im|am|auf|aus|again|wieder)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directive:
    """What the user wants, or (negated) does not want."""

    predicate: str
    object: str
    negated: bool
    confidence: float
    type: BlockType
    category: Category
    rule: str


def directive(text: str, pack: Pack) -> Directive | None:
    """The rule or taste that a piece of a clause states, or None."""
    formatting, standing = pack.has("formatting", text), pack.has("standing", text)
    category = Category.FORMATTING if formatting else Category.WORKFLOW
    if henceforth := pack.match("henceforth", text):
        text = text[henceforth.end() :].lstrip(_TRIM)
    no = pack.match("directive_no", text) or pack.match("directive_none", text)
    if no is not None and re.search(r"\w{2}", text[no.end() :]):
        return _preference("wants", text[no.end() :], True, 0.8 if standing or formatting else 0.7, category, "never")
    taste = pack.find("first_taste", text)
    if taste is not None and taste.start() <= _MOST_BEFORE_TASTE and _says_enough(text[taste.end() :]):
        where = f" ({before})" if (before := text[: taste.start()].strip(_TRIM)) else ""
        if pack.match("first_dislike", text[taste.start() :]):
            return _preference("wants", text[taste.end() :].strip(_TRIM) + where, True, 0.75, category, "dislikes")
        return _preference("prefers", text[taste.end() :].strip(_TRIM) + where, False, 0.75, category, "taste")
    yes = pack.match("directive_yes", text)
    if yes is not None and _says_enough(text[yes.end() :]):
        return _preference("wants", text, False, 0.8 if standing or formatting else 0.65, category, "always")
    return None


def implied(text: str, pack: Pack) -> Directive | None:
    """A rule without a verb of command: words of form ("compact table, please"), or a standing word in a fragment."""
    if pack.verbs.search(text) is None and pack.has("formatting", text) and not _SOMEWHERE.match(text):
        return _preference("wants", text, False, 0.65, Category.FORMATTING, "form")
    return None


def _preference(
    predicate: str, text: str, negated: bool, confidence: float, category: Category, rule: str
) -> Directive:
    return Directive(
        predicate, _PLEASE.sub("", text).strip(_TRIM), negated, confidence, BlockType.USER_PREFERENCE, category, rule
    )


def _says_enough(text: str) -> bool:
    return bool(content_words(text))
