"""The forms in which dates are said, filled with the words of a language from temporal.toml."""

from __future__ import annotations

import calendar
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

Bound = Literal["on", "from", "until", "span"]
Days = tuple[date, date]
Reader = Callable[["re.Match[str]", "Grammar", date, bool], Days]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to say a date; `spell` says two in one: "6 to 17 July"."""

    pattern: re.Pattern[str]
    reader: Reader
    spell: bool

    def read(self, match: re.Match[str], grammar: Grammar, today: date, past: bool) -> Days | None:
        """The first and last day that the words can mean; None where there is no such day."""
        try:
            return self.reader(match, grammar, today, past)
        except (ValueError, OverflowError):  # 31 February, week 54: no date after all
            return None


@dataclass(frozen=True, slots=True)
class Grammar:
    """The forms of one language, and what its words around a date make of it."""

    forms: tuple[Form, ...]
    cue: re.Pattern[str]
    past: re.Pattern[str]
    change: re.Pattern[str]
    ending: re.Pattern[str]
    lead: re.Pattern[str]
    only_lead: re.Pattern[str]
    trail: re.Pattern[str]
    until: frozenset[str]
    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    days: Mapping[str, int]
    numbers: Mapping[str, int]
    units: Mapping[str, int]
    kinds: Mapping[str, str]

    def bound_of(self, text: str, match: re.Match[str]) -> Bound:
        """What the words before a date, its own first ones, or those behind it make of it."""
        if trail := self.trail.match(text, match.end()):
            return "until" if trail["until"] else "from"
        before = text[max(0, match.start() - 24) : match.start()]
        lead = self.lead.search(before) or self.lead.search(before + match[0].split()[0] + " ")
        if lead is None:
            return "on"
        return "until" if " ".join(lead[1].split()) in self.until else "from"


def _one(day: date) -> Days:
    return day, day


def _iso(match: re.Match[str], _: Grammar, _today: date, _past: bool) -> Days:
    return _one(date.fromisoformat(match[1]))


def _dotted(match: re.Match[str], _: Grammar, today: date, past: bool) -> Days:
    return _one(_with_year(int(match["month"]), int(match["day"]), match["year"], today, past))


def _day_month(match: re.Match[str], grammar: Grammar, today: date, past: bool) -> Days:
    return _one(_with_year(grammar.months[match["month"]], int(match["day"]), match["year"], today, past))


def _spell(match: re.Match[str], grammar: Grammar, today: date, past: bool) -> Days:
    """ "6 to 17 July": the first day has the month of the last, or the one before where its number is higher."""
    last = _with_year(grammar.months[match["month"]], int(match["day"]), match["year"], today, past)
    if int(match["first"]) > last.day:
        before = last.replace(day=1) - timedelta(days=1)
        return before.replace(day=int(match["first"])), last
    return last.replace(day=int(match["first"])), last


def _month(match: re.Match[str], grammar: Grammar, today: date, past: bool) -> Days:
    month = grammar.months[match["month"]]
    first = _with_year(month, 1, None, today, past)
    return first, date(first.year, month, calendar.monthrange(first.year, month)[1])


def _day(match: re.Match[str], _: Grammar, today: date, past: bool) -> Days:
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


def _weekday(match: re.Match[str], grammar: Grammar, today: date, past: bool) -> Days:
    wanted = grammar.weekdays[match["weekday"]]
    kind = grammar.kinds.get(match["kind"] or "", "")
    ahead = (wanted - today.weekday()) % 7
    if kind == "last" or (past and kind == ""):
        return _one(today - timedelta(days=7 - ahead if ahead else 7))
    if kind == "next":
        return _one(today + timedelta(days=7 - today.weekday() + wanted))
    return _one(today + timedelta(days=(ahead or 7) + (7 if kind == "after_next" else 0)))


def _weekday_next_week(match: re.Match[str], grammar: Grammar, today: date, _past: bool) -> Days:
    wanted = grammar.weekdays[match["weekday"]]
    return _one(today + timedelta(days=7 - today.weekday() + wanted))


def _relative(match: re.Match[str], grammar: Grammar, today: date, _past: bool) -> Days:
    return _one(today + timedelta(days=grammar.days[" ".join(match["word"].split())]))


def _distance(match: re.Match[str], grammar: Grammar, today: date, _past: bool) -> Days:
    number = match["number"]
    days = (int(number) if number.isdigit() else grammar.numbers[number]) * grammar.units[match["unit"]]
    return _one(today + timedelta(days=-days if "back" in match.re.groupindex else days))


def _quarter_end(match: re.Match[str], _: Grammar, today: date, _past: bool) -> Days:
    month = int(match["quarter"]) * 3
    year = today.year if month >= today.month else today.year + 1
    return _one(date(year, month, calendar.monthrange(year, month)[1]))


def _week(match: re.Match[str], _: Grammar, today: date, _past: bool) -> Days:
    first = date.fromisocalendar(today.year, int(match["week"]), 1)
    if first < today - timedelta(days=180):
        first = date.fromisocalendar(today.year + 1, int(match["week"]), 1)
    return first, first + timedelta(days=6)


def _whole_week(match: re.Match[str], _: Grammar, today: date, _past: bool) -> Days:
    first = today + timedelta(days=(-7 if match["last"] else 7) - today.weekday())
    return first, first + timedelta(days=6)


def _month_end(_match: re.Match[str], _: Grammar, today: date, _past: bool) -> Days:
    return _one(today.replace(day=calendar.monthrange(today.year, today.month)[1]))


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


_NOT_EVERY = r"(?<!<every>\s)"

# Earlier forms win over later ones where they overlap. `<name>` is an alternation of the table's words.
_FORMS: tuple[tuple[str, Reader], ...] = (
    (r"(\d{4}-\d{2}-\d{2})", _iso),
    (r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})(?:日|号|號)", _dotted),
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
    (_NOT_EVERY + r"(?:(?P<kind><kinds>)\s)?(?P<weekday><weekdays>)\b", _weekday),
    (r"(?P<word><days>)\b", _relative),
    (r"(?:(?P<last><last_week>)|<next_week>)\b", _whole_week),
    (r"(?:<month_end>)\b", _month_end),
    (r"(?:<ahead>)\s(?P<number>\d{1,3}|<numbers>)\s(?P<unit><units>)\b", _distance),
    (r"(?P<number>\d{1,3}|<numbers>)\s(?P<unit><units>)\s(?:<later>)\b", _distance),
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
def grammar_of(language: str) -> Grammar:
    """The grammar of a language; of one without words, ISO dates and what needs none."""
    table = _tables().get(language, {})
    months = {word: i for i, row in enumerate(table.get("months", ()), 1) for word in row.split()}
    weekdays = {word: i for i, row in enumerate(table.get("weekdays", ())) for word in row.split()}
    kinds = {word: kind for kind in ("coming", "next", "last", "after_next") for word in table.get(kind, ())}
    words: dict[str, Iterable[str]] = {**table, "months": months, "weekdays": weekdays, "kinds": kinds}

    spaced = table.get("spaced", True)

    def spelled(form: str) -> re.Pattern[str]:
        # A look-behind has a fixed width, so "not after every" becomes one look-behind a word.
        apart = r"\s" if spaced else ""
        every = "".join(rf"(?<!{re.escape(word)}{apart})" for word in table.get("every", ()))
        form = form.replace("<ordinal>", str(table.get("ordinal", "(?!)")))
        if not spaced:
            form = form.replace(r"\b", "").replace(r"\s", r"\s?")
        form = form.replace(_NOT_EVERY if spaced else _NOT_EVERY.replace(r"\s", r"\s?"), every)
        filled = re.sub(r"(?<!\?P)<([a-z_]+)>", lambda m: _any(words.get(m[1], ())), form)
        return re.compile((r"(?<![\w/-])" if spaced else r"(?<!\d)") + filled)

    edge, gap = (r"\b", r"\s+") if spaced else ("", r"\s*")
    openings, endings = tuple(table.get("from", ())), tuple(table.get("until", ()))
    closed = _any(table.get("until_after", ()))
    some = [*months, *weekdays, *words.get("days", ()), *words.get("units", ()), *words.get("week", ())]
    some += [*words.get("last_week", ()), *words.get("next_week", ()), *words.get("month_end", ())]
    return Grammar(
        forms=tuple(Form(spelled(form), reader, reader is _spell) for form, reader in _FORMS),
        cue=re.compile(
            rf"\d{{4}}-\d\d|\d{{1,2}}(?:{table.get('ordinal', '(?!)')})|\bq[1-4]\b|{edge}{_any(some)}{edge}"
        ),
        past=re.compile(edge + _any(table.get("past", ())) + edge),
        change=re.compile(edge + _any(table.get("change", ())) + edge),
        ending=re.compile(edge + _any(table.get("ending", ())) + edge),
        lead=re.compile(rf"{edge}({_any((*openings, *endings))}){gap}(?:{_any(table.get('the', ()))}{gap})?$"),
        only_lead=re.compile(rf"(?:{_any((*table.get('the', ()), *table.get('now', ())))}{gap})*"),
        trail=re.compile(rf"\s?(?:(?P<until>{closed})|{_any(table.get('from_after', ()))})"),
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
