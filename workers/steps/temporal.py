"""Dates and spans in a text, counted from the day of the turn that says them, never from today.

The grammar is ours and small (temporal_forms.py); its words are in temporal.toml. What it can't read with certainty it
leaves: a wrong date is worse than none. Days are those of the speaker's own offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time

from .temporal_forms import Bound, grammar_of

LONGEST = 2_000
"""Characters of a text that are searched for dates."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A date as a text names it: where, the first and last day it can mean, and whether it opens or closes a span.

    A `span` is both: "6 to 17 July".
    """

    start: int
    end: int
    first: date
    last: date
    bound: Bound


@dataclass(frozen=True, slots=True)
class Validity:
    """When a statement holds. A start is a day's first moment, an end its last, in the speaker's offset."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None


def validity(text: str, at: datetime, language: str) -> Validity:
    """The span in which a clause holds, as far as it says so.

    A beginning or a change gives `valid_from`; an end, a due date, an appointment or an event gives `valid_to`.
    """
    found = dates(text, at, language)
    if not found:
        return Validity()
    grammar, lowered = grammar_of(language), _lowered(text)
    began, changes = grammar.past.search(lowered) is not None, grammar.change.search(lowered) is not None
    closing = next((d for d in found if d.bound in ("until", "span")), None)
    ceases = grammar.ending.search(lowered) is not None
    openings = [d for d in found if _opens(d, at.date(), began, changes, ceases, closing)]
    ends = [d for d in found if d not in openings]
    start = openings[0].first if openings else None
    end = closing.last if closing else ends[0].last if ends else None
    if start and end and end < start:
        end = None
    return Validity(
        datetime.combine(start, time.min, at.tzinfo) if start else None,
        datetime.combine(end, time(23, 59, 59), at.tzinfo) if end else None,
    )


def _opens(dated: Dated, today: date, began: bool, changes: bool, ends: bool, closing: Dated | None) -> bool:
    """A date opens a span if it says so, lies behind us, stands before the span's end, or is the day of a change."""
    if dated.bound != "on":
        return dated.bound in ("from", "span")
    spell = closing is not None and dated.start < closing.start and dated.first <= closing.first
    return spell or (changes and not ends) or dated.last < today or (began and dated.first == today)


def dates(text: str, at: datetime, language: str) -> list[Dated]:
    """Every date in the text's first 2,000 characters, left to right. Of an unknown language, ISO dates only."""
    grammar = grammar_of(language)
    lowered = _lowered(text)
    if not grammar.cue.search(lowered):
        return []
    past = grammar.past.search(lowered) is not None
    found: list[Dated] = []
    for form in grammar.forms:
        for match in form.pattern.finditer(lowered):
            overlaps = any(match.start() < other.end and other.start < match.end() for other in found)
            days = None if overlaps else form.read(match, grammar, at.date(), past)
            if days is not None:
                bound = "span" if form.spell else grammar.bound_of(lowered, match)
                found.append(Dated(match.start(), match.end(), *days, bound))
    return sorted(found, key=lambda dated: dated.start)


def is_of_calendar(word: str, language: str) -> bool:
    """Whether a word names a month or a day of the week."""
    grammar = grammar_of(language)
    return word.lower() in grammar.months or word.lower() in grammar.weekdays


def begins_with_date(text: str, at: datetime, language: str) -> date | None:
    """The day that a text begins with, prepositions aside: "on the 25th now" but not "closed on the 25th"."""
    first = next(iter(dates(text, at, language)), None)
    if (
        first is None
        or first.first != first.last
        or not grammar_of(language).only_lead.fullmatch(_lowered(text), 0, first.start)
    ):
        return None
    return first.first


def _lowered(text: str) -> str:
    # Not casefold: it turns one letter into two, and offsets would lie.
    return text[:LONGEST].lower()
