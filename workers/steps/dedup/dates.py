"""Days, months and quarters as a fact names them, without a year where it names none: "12 June", "Q3", "mittwochs".

Not `temporal`: there a date is counted from the day of a turn. Here two wordings must meet, whatever day it is.
"""

from __future__ import annotations

import re
import tomllib
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nextlevel.lang.tokens import fold

_LEAP_YEAR = 2024
_SHORTEST_ALONE = 4
"""Letters of a month's name that may stand without a day: "may", "mar" and "sep" mean other things."""
_END_OF = r"(?P<end>(?:the )?end of |ende(?: des)? |zum ende |slutet (?:av|på) |koniec |końca |końcem )?"
_ORDINAL = r"(?:st|nd|rd|th|\.|:e|:a)?"


@dataclass(frozen=True, slots=True)
class Day:
    """A first and a last day, each (month, day). A day of the week has its number instead, Monday 0."""

    first: tuple[int, int]
    last: tuple[int, int]
    weekday: int | None = None
    year: int | None = None

    def within(self, other: Day) -> bool:
        """True if this is a day or span inside the other."""
        if self.weekday is not None or other.weekday is not None:
            return self.weekday == other.weekday
        if self.year and other.year and self.year != other.year:
            return False
        return other.first <= self.first and self.last <= other.last


@dataclass(frozen=True, slots=True)
class Found:
    start: int
    end: int
    day: Day


def find(text: str) -> Iterator[Found]:
    """The dates of a text, left to right."""
    for match in _pattern().finditer(text):
        day = _read({name: value for name, value in match.groupdict().items() if value})
        if day is not None:
            yield Found(match.start(), match.end(), day)


def month_named(folded: str) -> Day | None:
    """The month of a name, however short; for a word that stands where a date is expected."""
    month = _names()[0].get(folded)
    return None if month is None else Day((month, 1), _last(month))


def _read(caught: dict[str, str]) -> Day | None:
    month_names, weekday_names = _names()
    year = next((int(caught[name]) for name in caught if name.startswith("y")), None)
    if "quarter" in caught:
        first = 3 * int(caught["quarter"]) - 2
        return _month(first + 2, year) if "end" in caught else Day((first, 1), _last(first + 2), year=year)
    if "weekday" in caught:
        number = weekday_names[fold(caught["weekday"])]
        return Day((0, number), (0, number), weekday=number)
    number = next((int(caught[name]) for name in caught if name.startswith("d")), 0)
    named = next((caught[name] for name in caught if name.startswith("m")), "")
    month = int(named) if named.isdigit() else month_names.get(fold(named), 0)
    if not 1 <= month <= 12:
        return None
    if not number:
        return Day((month, 1), _last(month), year=year)
    if not 1 <= number <= monthrange(_LEAP_YEAR, month)[1]:
        return None
    return Day((month, number), (month, number), year=year)


def _month(month: int, year: int | None) -> Day:
    return Day(_last(month), _last(month), year=year)


def _last(month: int) -> tuple[int, int]:
    return month, monthrange(_LEAP_YEAR, month)[1]


@cache
def _names() -> tuple[dict[str, int], dict[str, int]]:
    """The names of months (from 1) and weekdays (from 0), folded, of all languages that temporal.toml knows."""
    words = tomllib.loads((Path(__file__).parents[1] / "temporal.toml").read_text("utf-8"))
    months: dict[str, int] = {}
    weekdays: dict[str, int] = {}
    for language in words.values():
        for number, spellings in enumerate(language.get("months", ()), 1):
            months.update({fold(name): number for name in spellings.split() if not name[:1].isdigit()})
        for number, spellings in enumerate(language.get("weekdays", ())):
            for name in spellings.split():
                weekdays.update({fold(name) + ending: number for ending in ("", "s", "ar", "arna", "na")})
    return months, weekdays


@cache
def _pattern() -> re.Pattern[str]:
    months, weekdays = _names()
    names = "|".join(sorted((_loose(name) for name in months), key=len, reverse=True))
    alone = "|".join(sorted((_loose(name) for name in months if len(name) >= _SHORTEST_ALONE), key=len, reverse=True))
    days = "|".join(sorted((_loose(name) for name in weekdays if len(name) > 3), key=len, reverse=True))
    forms = (
        r"(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)",
        rf"(?P<d2>[012]?\d|3[01]){_ORDINAL} (?:of )?(?P<m2>{names})\b\.?(?: (?P<y2>\d{{4}}))?",
        rf"(?P<m3>{names}) (?P<d3>[012]?\d|3[01]){_ORDINAL}(?!\d)(?:,? (?P<y3>\d{{4}}))?",
        r"(?P<d4>\d{1,2})[./](?P<m4>\d{1,2})\.(?:(?P<y4>\d{4}))?(?![\d.])",
        r"(?P<d5>\d{1,2})/(?P<m5>\d{1,2})(?:/(?P<y5>\d{4}))?(?![\d/])",
        r"(?P<m6>\d{1,2})月(?P<d6>\d{1,2})[日号]",
        rf"{_END_OF}q(?P<quarter>[1-4])(?: (?P<y7>\d{{4}}))?(?!\w)",
        rf"(?P<weekday>{days})",
        rf"(?P<m8>{alone})(?: (?P<y8>\d{{4}}))?",
    )
    return re.compile(rf"(?<![\w./:-])(?:{'|'.join(forms)})(?!\w)", re.IGNORECASE)


def _loose(folded: str) -> str:
    """A folded name as it may be spelt, with or without its accents."""
    spelt = {"a": "[aäáą]", "o": "[oöó]", "u": "[uü]", "e": "[eé]", "s": "[sś]", "c": "[cć]", "z": "[zźż]", "n": "[nń]"}
    return "".join(spelt.get(letter, letter) for letter in re.escape(folded))
