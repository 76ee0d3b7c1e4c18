"""The days that a form of temporal_forms.py means, counted from the day of the turn that says it."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

Days = tuple[date, date]
"""The first and the last day that the words can mean."""

_MOST_YEARS_BACK, _MOST_YEARS_AHEAD = 40, 15
"""A bare number beyond these years is none ("from 1024 on")."""
_MONTHS_OF = {30: 1, 365: 12}
"""Units of temporal.toml that are counted by the calendar, and how many months they are."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one language that stand for a number; temporal.toml says what each is."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    days: Mapping[str, int]
    numbers: Mapping[str, int]
    units: Mapping[str, int]
    kinds: Mapping[str, str]
    periods: Mapping[str, tuple[str, int]]

    def number_of(self, said: str | None) -> int:
        """ "3", "three"; nothing is one, where a unit stands alone."""
        if said is None:
            return 1
        return int(said) if said.isdigit() else self.numbers[said]


Reader = Callable[["re.Match[str]", Words, date, bool], Days]
"""Match, words, the day of the turn, whether the clause tells of the past; ValueError where there is no such day."""


def _one(day: date) -> Days:
    return day, day


def iso(match: re.Match[str], _: Words, _today: date, _past: bool) -> Days:
    return _one(date.fromisoformat(match[1]))


def dotted(match: re.Match[str], _: Words, today: date, past: bool) -> Days:
    return _one(_with_year(int(match["month"]), int(match["day"]), match["year"], today, past))


def day_month(match: re.Match[str], words: Words, today: date, past: bool) -> Days:
    return _one(_with_year(words.months[match["month"]], int(match["day"]), match["year"], today, past))


def spell(match: re.Match[str], words: Words, today: date, past: bool) -> Days:
    """ "6 to 17 July": the first day has the month of the last, or the one before where its number is higher."""
    last = _with_year(words.months[match["month"]], int(match["day"]), match["year"], today, past)
    if int(match["first"]) > last.day:
        before = last.replace(day=1) - timedelta(days=1)
        return before.replace(day=int(match["first"])), last
    return last.replace(day=int(match["first"])), last


def month(match: re.Match[str], words: Words, today: date, past: bool) -> Days:
    first = _with_year(words.months[match["month"]], 1, match["year"], today, past)
    return first, _month_ends(first)


def day(match: re.Match[str], _: Words, today: date, past: bool) -> Days:
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


def weekday(match: re.Match[str], words: Words, today: date, past: bool) -> Days:
    wanted = words.weekdays[match["weekday"]]
    kind = words.kinds.get(match["kind"] or "", "")
    ahead = (wanted - today.weekday()) % 7
    if kind == "last" or (past and kind == ""):
        return _one(today - timedelta(days=7 - ahead if ahead else 7))
    if kind == "next":
        return _one(today + timedelta(days=7 - today.weekday() + wanted))
    return _one(today + timedelta(days=(ahead or 7) + (7 if kind == "after_next" else 0)))


def weekday_next_week(match: re.Match[str], words: Words, today: date, _past: bool) -> Days:
    wanted = words.weekdays[match["weekday"]]
    return _one(today + timedelta(days=7 - today.weekday() + wanted))


def relative(match: re.Match[str], words: Words, today: date, _past: bool) -> Days:
    return _one(today + timedelta(days=words.days[" ".join(match["word"].split())]))


def distance(match: re.Match[str], words: Words, today: date, _past: bool) -> Days:
    return _one(moved(today, match, words))


def distance_from(match: re.Match[str], words: Words, today: date, _past: bool) -> Days:
    """ "A week from Monday", "Montag in einer Woche"."""
    if match["weekday"]:
        base = today + timedelta(days=(words.weekdays[match["weekday"]] - today.weekday()) % 7 or 7)
    else:
        base = today + timedelta(days=words.days[" ".join(match["word"].split())])
    return _one(moved(base, match, words))


def next_units(match: re.Match[str], words: Words, today: date, _past: bool) -> Days:
    """ "For the next three weeks": from today on."""
    return today, moved(today, match, words)


def moved(day: date, match: re.Match[str], words: Words) -> date:
    """The day as far away as a match's number and unit say; before it where a group `back` has caught something."""
    caught = match.groupdict()
    count = words.number_of(caught.get("number")) * (-1 if caught.get("back") else 1)
    size = words.units[match["unit"]]
    if size in _MONTHS_OF:
        return _by_months(day, count * _MONTHS_OF[size])
    return day + timedelta(days=count * size)


def _by_months(day: date, months: int) -> date:
    """The same day some months on, or the last one that the month has."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def quarter(match: re.Match[str], _: Words, today: date, past: bool) -> Days:
    """ "In Q3", in this year unless it is over: or the latest, where the clause tells of the past."""
    month = int(match["quarter"]) * 3
    year = int(match["year"]) if match["year"] else today.year
    if not match["year"] and month < today.month and not past:
        year += 1
    last = _month_ends(date(year, month, 1))
    return last.replace(month=month - 2, day=1), last


def quarter_end(match: re.Match[str], words: Words, today: date, past: bool) -> Days:
    return _one(quarter(match, words, today, past)[1])


def year(match: re.Match[str], _: Words, today: date, _past: bool) -> Days:
    """ "Since 2024"."""
    said = int(match["year"])
    if not today.year - _MOST_YEARS_BACK <= said <= today.year + _MOST_YEARS_AHEAD:
        raise ValueError(f"{said} is no year that anybody means")
    return date(said, 1, 1), date(said, 12, 31)


def week(match: re.Match[str], _: Words, today: date, _past: bool) -> Days:
    first = date.fromisocalendar(today.year, int(match["week"]), 1)
    if first < today - timedelta(days=180):
        first = date.fromisocalendar(today.year + 1, int(match["week"]), 1)
    return first, first + timedelta(days=6)


def whole_week(match: re.Match[str], _: Words, today: date, _past: bool) -> Days:
    first = today + timedelta(days=(-7 if match["last"] else 7) - today.weekday())
    return first, first + timedelta(days=6)


def period(match: re.Match[str], words: Words, today: date, _past: bool) -> Days:
    """ "Next month", "last year", "the end of the year"."""
    unit, step = words.periods[" ".join(match["period"].split())]
    if unit == "month_end":
        return _one(_month_ends(today))
    if unit == "year_end":
        return _one(date(today.year + step, 12, 31))
    if unit == "week":
        monday = today + timedelta(days=7 * step - today.weekday())
        return monday, monday + timedelta(days=6)
    if unit == "year":
        return date(today.year + step, 1, 1), date(today.year + step, 12, 31)
    size = 3 if unit == "quarter" else 1
    first = _by_months(date(today.year, (today.month - 1) // size * size + 1, 1), step * size)
    return first, _month_ends(_by_months(first, size - 1))


def _month_ends(day: date) -> date:
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])


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
