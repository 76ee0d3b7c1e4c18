"""The forms in which dates are said, filled with the words of a language from temporal.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Literal

from . import temporal_days as days
from .temporal_days import Days, Reader, Words

Bound = Literal["on", "from", "until", "span"]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to say a date; a `spell` is both a beginning and an end: "6 to 17 July"."""

    pattern: re.Pattern[str]
    reader: Reader
    spell: bool

    def read(self, match: re.Match[str], words: Words, today: date, past: bool) -> Days | None:
        """The first and last day that the words can mean; None where there is no such day."""
        try:
            return self.reader(match, words, today, past)
        except (ValueError, OverflowError):  # 31 February, week 54: no date after all
            return None


@dataclass(frozen=True, slots=True)
class Grammar:
    """The forms of one language, and what its words around a date make of it.

    `anchored` is a distance from another date ("two weeks before that"), `lasting` one that a beginning lasts; `joins`
    is what stands between a weekday and its date.
    """

    forms: tuple[Form, ...]
    cue: re.Pattern[str]
    past: re.Pattern[str]
    change: re.Pattern[str]
    ending: re.Pattern[str]
    opens: re.Pattern[str]
    lead: re.Pattern[str]
    only_lead: re.Pattern[str]
    trail: re.Pattern[str]
    anchored: re.Pattern[str]
    joins: re.Pattern[str]
    lasting: re.Pattern[str]
    until: frozenset[str]
    words: Words

    def bound_of(self, text: str, match: re.Match[str]) -> Bound:
        """What the words before a date, its own first ones, or those behind it make of it."""
        if trail := self.trail.match(text, match.end()):
            return "until" if trail["until"] else "from"
        before = text[max(0, match.start() - 24) : match.start()]
        lead = self.lead.search(before) or self.lead.search(before + match[0].split()[0] + " ")
        if lead is None:
            return "on"
        return "until" if " ".join(lead[1].split()) in self.until else "from"


_NOT_EVERY = r"(?<!<every>\s)"
_SO_MANY = r"(?P<number>\d{1,3}|<numbers>)\s(?P<unit><units>)\b"
_DAY_OR_WEEKDAY = r"(?:(?P<weekday><weekdays>)|(?P<word><days>))"

_SPELLS = frozenset({days.spell, days.next_units})

# Earlier forms win over later ones where they overlap. `<name>` is an alternation of the table's words.
_FORMS: tuple[tuple[str, Reader], ...] = (
    (r"(\d{4}-\d{2}-\d{2})", days.iso),
    (r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?P<day>\d{1,2})(?:日|号|號)", days.dotted),
    (r"(?<![\d.])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d{2}(?![\d:]))?(?![\d.])", days.dotted),
    (
        r"(?P<first>\d{1,2})(?:<ordinal>)?\s?(?:-|–|<to>)\s?(?:<the>\s)?"
        r"(?P<day>\d{1,2})(?:<ordinal>)?\s(?:of\s)?(?P<month><months>)\b(?:,?\s(?P<year>\d{4})\b)?",
        days.spell,
    ),
    (r"(?P<day>\d{1,2})(?:<ordinal>)?\s(?:of\s)?(?P<month><months>)\b\.?(?:,?\s(?P<year>\d{4})\b)?", days.day_month),
    (r"(?P<month><months>)\s(?P<day>\d{1,2})(?:<ordinal>)?(?![\d:%]|\.\d)(?:,?\s(?P<year>\d{4})\b)?", days.day_month),
    (r"<slash_lead>\s(?P<day>\d{1,2})/(?P<month>\d{1,2})(?:/(?P<year>\d{4}))?(?![\d/])", days.dotted),
    (r"<dot_lead>\s(?P<day>\d{1,2})\.(?P<month>0[1-9]|1[0-2])(?P<year>(?!))?(?![\d.]*\d)", days.dotted),
    (r"(?:<weekdays>),?\s(?:<the>)\s(?P<day>\d{1,2})(?:<ordinal>)", days.day),
    (r"(?:<weekdays>),?\s(?:<the_day>)\s(?P<day>\d{1,2})(?![\w:.])", days.day),
    (r"(?P<weekday><weekdays>)\s(?:<next_week>)\b", days.weekday_next_week),
    (r"(?:<next_week>)\s(?:<the>\s)?(?P<weekday><weekdays>)\b", days.weekday_next_week),
    (_DAY_OR_WEEKDAY + r"\s<ahead>\s" + _SO_MANY, days.distance_from),
    (_DAY_OR_WEEKDAY + r"\s<ahead>\s(?P<unit><alone>)\b", days.distance_from),
    (_SO_MANY + r"\s<counted_from>\s" + _DAY_OR_WEEKDAY + r"\b", days.distance_from),
    (r"(?P<period><periods>)\b", days.period),
    (_NOT_EVERY + r"(?:(?P<kind><kinds>)\s)?(?P<weekday><weekdays>)\b", days.weekday),
    (r"(?P<word><days>)\b", days.relative),
    (r"(?:(?P<last><last_week>)|<next_week>)\b", days.whole_week),
    (r"(?:<next_so_many>)\s" + _SO_MANY, days.next_units),
    (r"(?:<ahead>)\s" + _SO_MANY, days.distance),
    (r"(?:<ahead>)\s(?P<unit><alone>)\b", days.distance),
    (_SO_MANY + r"\s(?:<later>)\b", days.distance),
    (_SO_MANY + r"\s(?P<back><ago>)\b", days.distance),
    (r"(?P<unit><alone>)\s(?P<back><ago>)\b", days.distance),
    (r"(?P<back><before_ago>)\s" + _SO_MANY, days.distance),
    (r"(?:<end_of>)\sq(?P<quarter>[1-4])\b(?:\s(?P<year>\d{4})\b)?", days.quarter_end),
    (r"(?:<from>|<until>|<in>)\sq(?P<quarter>[1-4])\b(?:\s(?P<year>\d{4})\b)?", days.quarter),
    (r"(?:<week>)\s?(?P<week>\d{1,2})\b", days.week),
    (
        r"(?:<day_lead>)\s(?:<the>\s)?(?P<day>\d{1,2})(?:<ordinal>)"
        r"(?!\s?\d|\s(?:of\s)?<every>|\s<no_day>)",
        days.day,
    ),
    (r"(?:<from>|<until>|<end_of>|<in>)\s(?P<month><months>)\b(?:,?\s(?P<year>\d{4})\b|(?!\s\d))", days.month),
    (r"(?:<year_lead>)\s(?P<year>(?:19|20)\d\d)(?![\w%:/-]|[.,]\d|\s?(?:<no_day>|(?:–|<to>)\s?\d))", days.year),
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
    some += [*words.get("last_week", ()), *words.get("next_week", ()), *words.get("periods", ())]
    return Grammar(
        forms=tuple(Form(spelled(form), reader, reader in _SPELLS) for form, reader in _FORMS),
        cue=re.compile(
            rf"\d{{4}}-\d\d|\d{{1,2}}(?:{table.get('ordinal', '(?!)')})|\d[/.]\d|\bq[1-4]\b|\b(?:19|20)\d\d\b|"
            rf"{edge}{_any(some)}{edge}"
        ),
        past=re.compile(edge + _any(table.get("past", ())) + edge),
        change=re.compile(edge + _any(table.get("change", ())) + edge),
        ending=re.compile(edge + _any(table.get("ending", ())) + edge),
        opens=re.compile(rf"{_any((*openings, *endings))}{gap}"),
        lead=re.compile(rf"{edge}({_any((*openings, *endings))}){gap}(?:{_any(table.get('the', ()))}{gap})?$"),
        only_lead=re.compile(rf"(?:{_any((*table.get('the', ()), *table.get('now', ())))}{gap})*"),
        trail=re.compile(rf"\s?(?:(?P<until>{closed})|{_any(table.get('from_after', ()))})"),
        anchored=spelled(_SO_MANY + r"\s(?:(?P<back><before_that>)|<after_that>)\b"),
        joins=re.compile(rf",?{gap}(?:{_any(table.get('the', ()))}{gap})?"),
        lasting=spelled(r"(?:<and>\s)?(?:<lasting>\s)?" + _SO_MANY),
        until=frozenset(endings),
        words=Words(
            months=months,
            weekdays=weekdays,
            days=dict(table.get("days", {})),
            numbers=dict(table.get("numbers", {})),
            units=dict(table.get("units", {})),
            kinds=kinds,
            periods={name: (unit, step) for name, (unit, step) in table.get("periods", {}).items()},
        ),
    )


def _any(words: Iterable[str]) -> str:
    """An alternation, longest first; without words it matches nothing."""
    listed = sorted(words, key=lambda word: (-len(word), word))
    return "(?:" + "|".join(re.escape(word).replace(r"\ ", r"\s") for word in listed) + ")" if listed else "(?!)"


@cache
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("temporal.toml").read_text(encoding="utf-8"))
