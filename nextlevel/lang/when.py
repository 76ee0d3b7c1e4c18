"""The time that a question names: "last week", "on 3 June", "im Mai", "förra veckan", "w zeszłym tygodniu".

Small on purpose: it only moves what was said then up, so what it can't read costs little. English, German, Swedish
and Polish; the words are in data/when.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from .tokens import fold

LONGEST = 1_500
_TOLD_WITHIN_DAYS = 10
"""What happened on a day is often told some days later."""


@dataclass(frozen=True, slots=True)
class When:
    """First and last day that a question means, and the words it says them with (folded).

    `yearless`: that day or month of any year.
    """

    first: date
    last: date
    yearless: bool = False
    told_within_days: int = 0
    said: str = ""

    def fits(self, day: int) -> bool:
        """True for the ordinal of a day on which what is asked for may have been said."""
        said = date.fromordinal(day)
        years = range(said.year - 1, said.year + 1) if self.yearless else (self.first.year,)
        return any(self._in(said, year) for year in years)

    def _in(self, said: date, year: int) -> bool:
        try:
            first, last = self.first.replace(year=year), self.last.replace(year=year + self.last.year - self.first.year)
        except ValueError:  # 29 February
            return False
        return first - timedelta(days=1) <= said <= last + timedelta(days=self.told_within_days)


def when(text: str, today: date) -> When | None:
    """The first time that a text names, seen from `today`; None where it names none."""
    folded = fold(text[:LONGEST])
    for pattern, read in _forms():
        for match in pattern.finditer(folded):
            try:
                return replace(read(match, today), said=match[0])
            except (ValueError, OverflowError):  # 31 February: no date after all
                continue
    return None


# ---- forms, the surest first; all on folded text

_Read = Callable[["re.Match[str]", date], When]


def _iso(match: re.Match[str], _: date) -> When:
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    return When(day, day, told_within_days=_TOLD_WITHIN_DAYS)


def _day(match: re.Match[str], today: date) -> When:
    day = date(int(match["year"] or today.year), _months()[match["month"]], int(match["day"]))
    return When(day, day, yearless=not match["year"], told_within_days=_TOLD_WITHIN_DAYS)


def _month(match: re.Match[str], today: date) -> When:
    first = date(int(match["year"] or today.year), _months()[match["month"]], 1)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    return When(first, last, yearless=not match["year"], told_within_days=_TOLD_WITHIN_DAYS)


def _relative(match: re.Match[str], today: date) -> When:
    back, days = _table()["relative"][" ".join(match[0].split())]
    return When(today - timedelta(days=back), today - timedelta(days=back - days + 1))


def _week(match: re.Match[str], today: date) -> When:
    monday = today - timedelta(days=today.weekday() + 7)
    return When(monday, monday + timedelta(days=6))


def _last_month(match: re.Match[str], today: date) -> When:
    last = today.replace(day=1) - timedelta(days=1)
    return When(last.replace(day=1), last)


def _last_year(match: re.Match[str], today: date) -> When:
    return When(date(today.year - 1, 1, 1), date(today.year - 1, 12, 31))


def _ago(match: re.Match[str], today: date) -> When:
    number = match["number"]
    table = _table()
    unit = table["units"][match["unit"]]
    back = (int(number) if number.isdigit() else table["numbers"][number]) * unit
    return When(today - timedelta(days=back + unit // 3), today - timedelta(days=back - unit // 3))


def _weekday(match: re.Match[str], today: date) -> When:
    wanted = next(i for i, row in enumerate(_table()["weekdays"]) if match["weekday"] in row.split())
    day = today - timedelta(days=(today.weekday() - wanted) % 7 or 7)
    return When(day, day)


@cache
def _forms() -> tuple[tuple[re.Pattern[str], _Read], ...]:
    table = _table()
    months, units, numbers = _any(_months()), _any(table["units"]), _any(table["numbers"])
    weekdays = _any(word for row in table["weekdays"] for word in row.split())
    year = r"(?:,?\s(?P<year>\d{4}))?"
    number = rf"(?P<number>\d{{1,3}}|{numbers})\s(?P<unit>{units})"
    forms: list[tuple[str, _Read]] = [
        (r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})", _iso),
        (r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})", _iso),
        (rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|:e)?\s(?:of\s)?(?P<month>{months}){year}", _day),
        (rf"(?P<month>{months})\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d){year}", _day),
        # "I may" is English, Swedish "i" goes with "maj".
        (rf"(?!i\smay\b){_any(table['in'])}\s(?P<month>{months}){year}", _month),
        (rf"(?P<month>{months})\s(?P<year>\d{{4}})", _month),
        (rf"{_any(table['last_week'])}", _week),
        (rf"{_any(table['last_month'])}", _last_month),
        (rf"{_any(table['last_year'])}", _last_year),
        (rf"{_any(table['relative'])}", _relative),
        (rf"{number}\s{_any(table['ago'])}", _ago),
        (rf"{_any(table['before_ago'])}\s{number}", _ago),
        (rf"{_any(table['on'])}\s(?P<weekday>{weekdays})", _weekday),
    ]
    return tuple((re.compile(rf"(?<![\w/-]){form}(?!\w)"), read) for form, read in forms)


def _any(words: Any) -> str:
    """An alternation of folded words, longest first."""
    listed = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s") for word in listed) + ")"


@cache
def _months() -> dict[str, int]:
    return {word: number for number, row in enumerate(_table()["months"], 1) for word in row.split()}


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "data" / "when.toml").read_text(encoding="utf-8"))
