"""Rules and tastes of the user: "never …", "use X, not Y", "I prefer …", "no emojis", "headings in sentence case"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Category

from .pack import TRIM, Pack

_MOST_BEFORE_TASTE = 24
"""Characters before "I prefer" that only say where it holds: "in TypeScript i prefer …"."""


@dataclass(frozen=True, slots=True)
class Directive:
    """What the user wants, or (negated) does not want."""

    predicate: str
    object: str
    negated: bool
    confidence: float
    category: Category
    rule: str
    type: BlockType = BlockType.USER_PREFERENCE


def directive(text: str, pack: Pack) -> Directive | None:
    """The rule or taste that a piece of a clause states, or None."""
    lasting = pack.has("formatting", text) or pack.has("standing", text)
    shelf = Category.FORMATTING if pack.has("formatting", text) else Category.WORKFLOW
    text = _polite(text, pack)
    if henceforth := pack.match("henceforth", text):
        text = text[henceforth.end() :].lstrip(TRIM)
    if (forbidden := pack.match("forbids", text)) is not None:
        no = next(name for name, said in forbidden.groupdict().items() if said)
        what = f"{text[: forbidden.start(no)].rstrip()} {text[forbidden.end(no) :].lstrip()}"
        return Directive("wants", what.strip(TRIM), True, 0.9 if lasting else 0.8, shelf, "never")
    denied = pack.match("directive_no", text) or _none(text, pack)
    if denied is not None and re.search(r"\w{2}", text[denied.end() :]):
        return Directive("wants", text[denied.end() :].strip(TRIM), True, 0.9 if lasting else 0.8, shelf, "never")
    if (taste := _taste(text, pack, shelf)) is not None:
        return taste
    yes = pack.match("directive_yes", text)
    if yes is not None and content_words(text[yes.end() :]):
        return Directive("wants", _recast(text, pack).strip(TRIM), False, 0.85 if lasting else 0.75, shelf, "always")
    return None


def _none(text: str, pack: Pack) -> re.Match[str] | None:
    """ "No bullets"; but "without the flag it waits" says what happens, and is no wish."""
    found = pack.match("directive_none", text)
    states = found is not None and pack.verbs.search(text, found.end()) is not None
    return None if found and states and found[0].split()[-1].casefold() in pack.pronouns["preposition"] else found


def _recast(text: str, pack: Pack) -> str:
    """ "answer me briefly from now on" as what is wanted: "answers briefly"."""
    for order, wanted in pack.recast:
        if found := order.match(text):
            return " ".join(f"{wanted} {pack.cues['henceforth'].sub(' ', text[found.end() :])}".split())
    return text


def _taste(text: str, pack: Pack, shelf: Category) -> Directive | None:
    found = pack.find("first_taste", text)
    if found is None or found.start() > _MOST_BEFORE_TASTE or not content_words(text[found.end() :]):
        return None
    where = text[: found.start()].strip(TRIM)
    if where and where.split()[-1].casefold() in pack.pronouns["person"]:
        return None  # "she wants it in German" is her taste
    what = text[found.end() :].strip(TRIM) + (f" ({where})" if where else "")
    if pack.match("first_dislike", text[found.start() :]):
        return Directive("wants", what, True, 0.85, shelf, "dislikes")
    return Directive("prefers", what, False, 0.85, shelf, "taste")


def implied(text: str, pack: Pack) -> Directive | None:
    """A rule without a verb, by words of form alone: "compact table, please"."""
    if pack.verbs.search(text) is not None or not pack.has("formatting", text) or pack.match("somewhere", text):
        return None
    return Directive("wants", _polite(text, pack).strip(TRIM), False, 0.8, Category.FORMATTING, "form")


def _polite(text: str, pack: Pack) -> str:
    """The text without its "please"."""
    return " ".join(pack.cues["please"].sub("", text).split())
