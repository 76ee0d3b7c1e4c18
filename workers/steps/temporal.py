"""Dates and spans in a text, counted from the day of the turn that says them, never from today.

The grammar is ours and small; its words are in temporal.toml. What it can't read with certainty it leaves: a wrong date
is worse than none. Days are those of the speaker's own offset.
"""

from __future__ import annotations

import calendar
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

Bound = Literal["on", "from", "until", "span"]
Days = tuple[date, date]

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
    grammar, lowered = _grammar(language), _lowered(text)
    began, changes = grammar.past.search(lowered) is not None, grammar.change.search(lowered) is not None
    closing = next((d for d in found if d.bound in ("until", "span")), None)
    openings = [d for d in found if _opens(d, at.date(), began, changes, closing)]
    ends = [d for d in found if d not in openings]
    start = openings[0].first if openings else None
    end = closing.last if closing else ends[0].last if ends else None
    if start and end and end < start:
        end = None
    return Validity(
        datetime.combine(start, time.min, at.tzinfo) if start else None,
        datetime.combine(end, time(23, 59, 59), at.tzinfo) if end else None,
    )


def _opens(dated: Dated, today: date, began: bool, changes: bool, closing: Dated | None) -> bool:
    """A date opens a span if it says so, lies behind us, stands before the span's end, or is the day of a change."""
    if dated.bound != "on":
        return dated.bound in ("from", "span")
    spell = closing is not None and dated.start < closing.start and dated.first <= closing.first
    return spell or changes or dated.last < today or (began and dated.first == today)


def dates(text: str, at: datetime, language: str) -> list[Dated]:
    """Every date in the text's first 2,000 characters, left to right. Of an unknown language, ISO dates only."""
    grammar = _grammar(language)
    lowered = _lowered(text)
    if not grammar.cue.search(lowered):
        return []
    past = grammar.past.search(lowered) is not None
    found: list[Dated] = []
    for pattern, read in grammar.forms:
        for match in pattern.finditer(lowered):
            overlaps = any(match.start() < other.end and other.start < match.end() for other in found)
            days = None if overlaps else _tried(read, match, grammar, at.date(), past)
            if days is not None:
                bound = "span" if read is _spell else grammar.bound_of(lowered, match)
                found.append(Dated(match.start(), match.end(), *days, bound))
    return sorted(found, key=lambda dated: dated.start)


def begins_with_date(text: str, at: datetime, language: str) -> date | None:
    """The day that a text begins with, prepositions aside: "on the 25th now" but not "closed on the 25th"."""
    first = next(iter(dates(text, at, language)), None)
    if (
        first is None
        or first.first != first.last
        or not _grammar(language).only_lead.fullmatch(_lowered(text), 0, first.start)
    ):
        return None
    return first.first


def _lowered(text: str) -> str:
    # Not casefold: it turns one letter into two, and offsets would lie.
    return text[:LONGEST].lower()


# ---- grammar

Reader = Callable[["re.Match[str]", "_Grammar", date, bool], Days | None]


@dataclass(frozen=True, slots=True)
class _Grammar:
    forms: tuple[tuple[re.Pattern[str], Reader], ...]
    cue: re.Pattern[str]
    past: re.Pattern[str]
    change: re.Pattern[str]
    lead: re.Pattern[str]
    only_lead: re.Pattern[str]
    until: frozenset[str]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    days: Mapping[str, int]
    numbers: Mapping[str, int]
    units: Mapping[str, int]
    kinds: Mapping[str, str]

    def bound_of(self, text: str, match: re.Match[str]) -> Bound:
        """What the words before a date, or its own first ones, make of it."""
        before = text[max(0, match.start() - 24) : match.start()]
        lead = self.lead.search(before) or self.lead.search(before + match[0].split()[0] + " ")
        if lead is None:
            return "on"
        return "until" if " ".join(lead[1].split()) in self.until else "from"


def _tried(read: Reader, match: re.Match[str], grammar: _Grammar, today: date, past: bool) -> Days | None:
    try:
        return read(match, grammar, today, past)
    except (ValueError, OverflowError):  # 31 February, week 54: no date after all
        return None


def _one(day: date) -> Days:
    return day, day


def _iso(match: re.Match[str], _: _Grammar, _today: date, _past: bool) -> Days:
    return _one(date.fromisoformat(match[1]))


def _dotted(match: re.Match[str], _: _Grammar, today: date, past: bool) -> Days:
    return _one(_with_year(int(match["month"]), int(match["day"]), match["year"], today, past))


def _day_month(match: re.Match[str], grammar: _Grammar, today: date, past: bool) -> Days:
    return _one(_with_year(grammar.months[match["month"]], int(match["day"]), match["year"], today, past))


def _spell(match: re.Match[str], grammar: _Grammar, today: date, past: bool) -> Days:
    """ "6 to 17 July": the first day has the month of the last, or the one before where its number is higher."""
    last = _with_year(grammar.months[match["month"]], int(match["day"]), match["year"], today, past)
    if int(match["first"]) > last.day:
        before = last.replace(day=1) - timedelta(days=1)
        return before.replace(day=int(match["first"])), last
    return last.replace(day=int(match["first"])), last


def _month(match: re.Match[str], grammar: _Grammar, today: date, past: bool) -> Days:
    month = grammar.months[match["month"]]
    first = _with_year(month, 1, None, today, past)
    return first, date(first.year, month, calendar.monthrange(first.year, month)[1])


def _day(match: re.Match[str], _: _Grammar, today: date, past: bool) -> Days:
    """A bare "the 19th": the coming one, or the latest where the clause tells of the past."""
    wanted = int(match["day"])
    for step in range(13):
        month = today.month - 1 + (-step if past else step)
        year, month = today.year + month // 12, month % 12 + 1
        if wanted <= calendar.monthrange(year, month)[1]:
            day = date(year, month, wanted)
            if day <= today if past else day >= today:
                return _one(day)
    raise ValueError(f"no day {wanted} in any month")


def _weekday(match: re.Match[str], grammar: _Grammar, today: date, past: bool) -> Days:
    wanted = grammar.weekdays[match["weekday"]]
    kind = grammar.kinds.get(match["kind"] or "", "")
    ahead = (wanted - today.weekday()) % 7
    if kind == "last" or (past and kind == ""):
        return _one(today - timedelta(days=7 - ahead if ahead else 7))
    if kind == "next":
        return _one(today + timedelta(days=7 - today.weekday() + wanted))
    return _one(today + timedelta(days=(ahead or 7) + (7 if kind == "after_next" else 0)))


def _weekday_next_week(match: re.Match[str], grammar: _Grammar, today: date, _past: bool) -> Days:
    wanted = grammar.weekdays[match["weekday"]]
    return _one(today + timedelta(days=7 - today.weekday() + wanted))


def _relative(match: re.Match[str], grammar: _Grammar, today: date, _past: bool) -> Days:
    return _one(today + timedelta(days=grammar.days[" ".join(match["word"].split())]))


def _distance(match: re.Match[str], grammar: _Grammar, today: date, _past: bool) -> Days:
    number = match["number"]
    days = (int(number) if number.isdigit() else grammar.numbers[number]) * grammar.units[match["unit"]]
    return _one(today + timedelta(days=-days if "back" in match.re.groupindex else days))


def _quarter_end(match: re.Match[str], _: _Grammar, today: date, _past: bool) -> Days:
    month = int(match["quarter"]) * 3
    year = today.year if month >= today.month else today.year + 1
    return _one(date(year, month, calendar.monthrange(year, month)[1]))


def _week(match: re.Match[str], _: _Grammar, today: date, _past: bool) -> Days:
    first = date.fromisocalendar(today.year, int(match["week"]), 1)
    if first < today - timedelta(days=180):
        first = date.fromisocalendar(today.year + 1, int(match["week"]), 1)
    return first, first + timedelta(days=6)


def _with_year(month: int, day: int, year: str | None, today: date, past: bool) -> date:
    """A day and month in the year that was said, else in the nearest one that fits the tense."""
    if year:
        return date(int(year) + (2000 if int(year) < 100 else 0), month, day)
    found = date(today.year, month, day)
    if past and found > today:
        return date(today.year - 1, month, day)
    if not past and found < today - timedelta(days=120):
        return date(today.year + 1, month, day)
    return found


# Earlier forms win over later ones where they overlap. `<name>` is an alternation of the table's words.
_FORMS: tuple[tuple[str, Reader], ...] = (
    (r"(\d{4}-\d{2}-\d{2})", _iso),
    (r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d{2}(?![\d:]))?(?![\d.])", _dotted),
    (
        r"(?P<first>\d{1,2})(?:<ordinal>)?\s?(?:-|–|<to>)\s?(?:<the>\s)?"
        r"(?P<day>\d{1,2})(?:<ordinal>)?\s(?:of\s)?(?P<month><months>)\b(?:,?\s(?P<year>\d{4})\b)?",
        _spell,
    ),
    (r"(?P<day>\d{1,2})(?:<ordinal>)?\s(?:of\s)?(?P<month><months>)\b\.?(?:,?\s(?P<year>\d{4})\b)?", _day_month),
    (r"(?P<month><months>)\s(?P<day>\d{1,2})(?:<ordinal>)?(?![\d:%]|\.\d)(?:,?\s(?P<year>\d{4})\b)?", _day_month),
    (r"(?:<weekdays>),?\s(?:<the>)\s(?P<day>\d{1,2})(?:<ordinal>)", _day),
    (r"(?P<weekday><weekdays>)\s(?:<next_week>)\b", _weekday_next_week),
    (r"(?:<next_week>)\s(?:<the>\s)?(?P<weekday><weekdays>)\b", _weekday_next_week),
    (r"(?<!<every>\s)(?:(?P<kind><kinds>)\s)?(?P<weekday><weekdays>)\b", _weekday),
    (r"(?P<word><days>)\b", _relative),
    (r"(?:<ahead>)\s(?P<number>\d{1,3}|<numbers>)\s(?P<unit><units>)\b", _distance),
    (r"(?P<number>\d{1,3}|<numbers>)\s(?P<unit><units>)\s(?P<back><ago>)\b", _distance),
    (r"(?P<back><before_ago>)\s(?P<number>\d{1,3}|<numbers>)\s(?P<unit><units>)\b", _distance),
    (r"(?:(?:<end_of>)\s)q(?P<quarter>[1-4])\b", _quarter_end),
    (r"(?:<week>)\s?(?P<week>\d{1,2})\b", _week),
    (
        r"(?:<day_lead>)\s(?:<the>\s)?(?P<day>\d{1,2})(?:<ordinal>)"
        r"(?!\s?\d|\s(?:of\s)?<every>|\s<no_day>)",
        _day,
    ),
    (r"(?:<from>|<until>|<end_of>|<in>)\s(?P<month><months>)\b(?!\s\d)", _month),
)


@cache
def _grammar(language: str) -> _Grammar:
    table = _tables().get(language, {})
    months = {word: i for i, row in enumerate(table.get("months", ()), 1) for word in row.split()}
    weekdays = {word: i for i, row in enumerate(table.get("weekdays", ())) for word in row.split()}
    kinds = {word: kind for kind in ("coming", "next", "last", "after_next") for word in table.get(kind, ())}
    words: dict[str, Iterable[str]] = {**table, "months": months, "weekdays": weekdays, "kinds": kinds}

    def spelled(form: str) -> re.Pattern[str]:
        # A look-behind has a fixed width, so "not after every" becomes one look-behind a word.
        form = form.replace(r"(?<!<every>\s)", "".join(rf"(?<!{re.escape(w)}\s)" for w in table.get("every", ())))
        form = form.replace("<ordinal>", str(table.get("ordinal", "(?!)")))
        return re.compile(r"(?<![\w/-])" + re.sub(r"(?<!\?P)<([a-z_]+)>", lambda m: _any(words.get(m[1], ())), form))

    openings, endings = tuple(table.get("from", ())), tuple(table.get("until", ()))
    some = [*months, *weekdays, *words.get("days", ()), *words.get("units", ()), *words.get("week", ())]
    return _Grammar(
        forms=tuple((spelled(form), read) for form, read in _FORMS),
        cue=re.compile(rf"\d{{4}}-\d\d|\d{{1,2}}(?:{table.get('ordinal', '(?!)')})|\bq[1-4]\b|\b{_any(some)}\b"),
        past=re.compile(rf"\b{_any(table.get('past', ()))}\b"),
        change=re.compile(rf"\b{_any(table.get('change', ()))}\b"),
        lead=re.compile(rf"\b({_any((*openings, *endings))})\s+(?:{_any(table.get('the', ()))}\s+)?$"),
        only_lead=re.compile(rf"(?:{_any((*table.get('the', ()), *table.get('now', ())))}\s+)*"),
        until=frozenset(endings),
        months=months,
        weekdays=weekdays,
        days=dict(table.get("days", {})),
        numbers=dict(table.get("numbers", {})),
        units=dict(table.get("units", {})),
        kinds=kinds,
    )


def _any(words: Iterable[str]) -> str:
    """An alternation, longest first; without words it matches nothing."""
    listed = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s") for word in listed) + ")" if listed else "(?!)"


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("temporal.toml").read_text(encoding="utf-8"))
