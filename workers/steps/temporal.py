"""Dates and spans in a text, counted from the day of the turn that says them, never from today.

The grammar is ours and small (temporal_forms.py); its words are in temporal.toml. What it can't read with certainty it
leaves: a wrong date is worse than none. Days are those of the speaker's own offset.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from .temporal_days import moved
from .temporal_forms import Bound, Grammar, grammar_of

LONGEST = 2_000
"""Characters of a text that are searched for dates."""
_LONG_GONE = timedelta(days=30)
"""An end that is further back than this, and was not told as past, is next year's."""


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
    """When a statement holds. A start is a day's first moment, an end its last, in the speaker's offset.

    `named` is the day that was spoken of last.
    """

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    named: date | None = None


def validity(
    text: str, at: datetime, language: str, *, also: Sequence[str] = (), anchor: date | None = None
) -> Validity:
    """The span in which a clause holds, as far as it says so.

    A beginning or a change gives `valid_from`; an end, a due date, an appointment or an event gives `valid_to`. `also`
    are the other languages of a speaker who mixes them; `anchor` is the date last named before this text.
    """
    found = dates(text, at, language, anchor=anchor)
    for other in also:
        found += [each for each in dates(text, at, other) if not any(_overlap(each, known) for known in found)]
    if not found:
        return Validity()
    found.sort(key=lambda dated: dated.start)
    grammar, lowered = grammar_of(language), _lowered(text)
    began, changes = (
        grammar.past.search(lowered) is not None,
        grammar.change.search(_around(found, lowered)) is not None,
    )
    closing = next((d for d in found if d.bound in ("until", "span")), None)
    ceases = grammar.ending.search(lowered) is not None
    openings = [d for d in found if _opens(d, at.date(), began, changes, ceases, closing)]
    ends = [d for d in found if d not in openings]
    start = openings[0].first if openings else None
    end = closing.last if closing else ends[0].last if ends else None
    if end is None and openings and openings[0].bound == "from":
        end = _lasts(openings[0], lowered, grammar)
    if start and end and end < start:
        end = None
    return Validity(
        datetime.combine(start, time.min, at.tzinfo) if start else None,
        datetime.combine(end, time(23, 59, 59), at.tzinfo) if end else None,
        found[-1].first,
    )


def _around(found: Sequence[Dated], lowered: str) -> str:
    """What is said of the dates, without their own words: "two weeks from now" is no beginning."""
    for dated in found:
        lowered = lowered[: dated.start] + " " * (dated.end - dated.start) + lowered[dated.end :]
    return lowered


def _overlap(one: Dated, other: Dated) -> bool:
    return one.start < other.end and other.start < one.end


def _lasts(opening: Dated, lowered: str, grammar: Grammar) -> date | None:
    """The last day of "from Monday for two weeks": what follows the beginning says how long."""
    found = grammar.lasting.match(lowered, opening.end + 1)
    return moved(opening.first, found, grammar.words) - timedelta(days=1) if found else None


def _opens(dated: Dated, today: date, began: bool, changes: bool, ends: bool, closing: Dated | None) -> bool:
    """A date opens a span if it says so, lies behind us, stands before the span's end, or is the day of a change."""
    if dated.bound != "on":
        return dated.bound in ("from", "span")
    spell = closing is not None and dated.start < closing.start and dated.first <= closing.first
    return spell or (changes and not ends) or dated.last < today or (began and dated.first == today)


def dates(text: str, at: datetime, language: str, *, anchor: date | None = None) -> list[Dated]:
    """Every date in the text's first 2,000 characters, left to right. Of an unknown language, ISO dates only.

    "Two weeks before that" counts from the date named last: in this text, else `anchor`.
    """
    grammar = grammar_of(language)
    lowered = _lowered(text)
    if not grammar.cue.search(lowered):
        return []
    past = grammar.past.search(lowered) is not None
    found: list[Dated] = []
    for form in grammar.forms:
        for match in form.pattern.finditer(lowered):
            overlaps = any(match.start() < other.end and other.start < match.end() for other in found)
            days = None if overlaps else form.read(match, grammar.words, at.date(), past)
            if days is not None:
                bound = "span" if form.spell else grammar.bound_of(lowered, match)
                first, last = days
                if bound == "until" and not past and last < at.date() - _LONG_GONE and _without_year(match):
                    first, last = first.replace(year=first.year + 1), last.replace(year=last.year + 1)
                found.append(Dated(match.start(), match.end(), first, last, bound))
    found.sort(key=lambda dated: dated.start)
    alone = [each for n, each in enumerate(found) if not _is_only_said_beside(each, found[n + 1 :], lowered, grammar)]
    return [*alone, *_anchored(lowered, grammar, alone, anchor)]


def _is_only_said_beside(dated: Dated, later: Sequence[Dated], lowered: str, grammar: Grammar) -> bool:
    """Whether it is a weekday that goes with the date behind it: of "Friday 22 May" the 22nd is what counts."""
    if not later or lowered[dated.start : dated.end].split()[-1] not in grammar.words.weekdays:
        return False
    return grammar.joins.fullmatch(lowered, dated.end, later[0].start) is not None


def _without_year(match: re.Match[str]) -> bool:
    """Whether a form that may name a year names none."""
    return match.groupdict().get("year", "") is None


def _anchored(lowered: str, grammar: Grammar, found: Sequence[Dated], anchor: date | None) -> list[Dated]:
    made = []
    for match in grammar.anchored.finditer(lowered):
        known = next((each.first for each in reversed(found) if each.end <= match.start()), anchor)
        if known is not None and not any(match.start() < each.end and each.start < match.end() for each in found):
            day = moved(known, match, grammar.words)
            made.append(Dated(match.start(), match.end(), day, day, "on"))
    return made


def begins_with_bound(text: str, language: str) -> bool:
    """Whether a text begins like the time of what was said before it: "since the move in May"."""
    return grammar_of(language).opens.match(_lowered(text).lstrip(" ,")) is not None


def is_of_calendar(word: str, language: str) -> bool:
    """Whether a word names a month or a day of the week."""
    words = grammar_of(language).words
    return word.lower() in words.months or word.lower() in words.weekdays


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
