"""Half a sentence that mends an earlier one: "not in the hall, in the garden"; "no, on the 19th"; "nie, od 200"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nextlevel.lang.normal import clauses
from nextlevel.model import Turn

from .pack import TRIM, Pack

_LOOK_BACK = 3
"""Earlier turns that a correction may be about."""
_LONGEST = 2_000
_MOST_WORDS = 5
"""Words of a correction that gives the right value only: more is a statement of its own."""
_DIGITS = re.compile(r"\d+")


def restated(text: str, before: str, window: Sequence[Turn], pack: Pack) -> tuple[str, str] | None:
    """The earlier statement with the right value in it, and that value, where `text` only says what is wrong or right.

    `before` is what the turn has said so far. None where nothing that was said holds the wrong value.
    """
    if (told := pack.match("not_but", text)) is not None:
        old, new = told["old"].strip(TRIM), told["new"].strip(TRIM)
        if only := pack.match("adverb", new):  # "not the big one, just the small one"
            new = new[only.end() :].strip(TRIM) or new
        return next(_mended(rf"\S*{re.escape(old)}", _aligned(old, new), before, window), None)
    objection = pack.match("objection", text)
    value = text[objection.end() :].strip(TRIM) if objection else ""
    if not _DIGITS.search(value) or len(value.split()) > _MOST_WORDS or pack.verbs.search(value):
        return None
    return next(_mended(_DIGITS.sub(r"\\d+", re.escape(value)), value, before, window), None)


def _mended(old: str, new: str, before: str, window: Sequence[Turn]) -> Iterator[tuple[str, str]]:
    """The clauses that hold what the expression `old` finds, the last one first, with `new` in its place; and `new`."""
    wrong = re.compile(rf"(?<!\w){old}(?!\w)", re.IGNORECASE)
    for text in (before, *(turn.user_text for turn in reversed(window[-_LOOK_BACK:]))):
        for clause in reversed(clauses(text[-_LONGEST:])):
            if clause.kind in ("prose", "list") and clause.ends != "?" and (found := wrong.search(clause.text)):
                yield f"{clause.text[: found.start()]}{new}{clause.text[found.end() :]}", new


def _aligned(old: str, new: str) -> str:
    """Of a new value that says more than the old one, what stands for it: "Ms Lee" of "the room of Ms Lee"."""
    at = re.search(rf"(?<!\w){re.escape(old.split()[0])}(?!\w)", new, re.IGNORECASE)
    return new[at.start() :] if at else new
