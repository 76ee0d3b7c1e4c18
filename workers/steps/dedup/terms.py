"""A text as the terms that a comparison weighs: words with their meanings, numbers, dates, identifiers, names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from nextlevel.lang.lexicon import LONGEST_PHRASE, SHORTEST_STEM, inflected, lexicon, opposed
from nextlevel.lang.tokens import fold, stop_words

from . import dates

_PLACEHOLDER = re.compile(r"<[^<>]*>|\{[^{}]*\}")
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:[,\u00a0 ’']\d{3})+(?![\w])|(?<![\w.,])\d{1,3}(?:\.\d{3})+(?=,\d)")
_DECIMAL_COMMA = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?![\w.,]\d|\d)")
_RANGE = re.compile(r"(?<![\w.:-])(\d{1,4}(?:[:.]\d\d)?)\s?[-–—]\s?(\d{1,4}(?:[:.]\d\d)?)(?![\w-])")
_PM = re.compile(r"(?<!\w)(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?", re.IGNORECASE)
_CHUNK = re.compile(r"[^\s,;()\[\]{}\"“”„«»?!、。，；（）「」]+")
_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_POLISH_CASE = re.compile("(?<=..)[ęą]$")
_UMLAUT = re.compile("([aou])e")
_OUTER = ".,;:!?'’`*…"
_POSSESSIVE = re.compile(r"['’]s$|(?<=s)['’]$", re.IGNORECASE)
_NUMBER = re.compile(r"[~≈<>€$]?\d+(?:[.:]\d+)*(?P<unit>[^\W\d_]{1,3}|%|°c?)?")
_FACTOR = {"k": 1_000, "m": 1_000_000}
_COUNT_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12,
    "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10, "zwolf": 12,
    "tva": 2, "tre": 3, "fyra": 4, "fem": 5, "sex": 6, "sju": 7, "atta": 8, "nio": 9, "tio": 10, "tolv": 12,
    "dwa": 2, "dwie": 2, "trzy": 3, "cztery": 4, "piec": 5, "szesc": 6, "siedem": 7, "osiem": 8, "dziesiec": 10,
}  # fmt: skip


class Kind(StrEnum):
    WORD = "word"
    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    IDENTIFIER = "identifier"


VALUES = frozenset({Kind.NUMBER, Kind.DATE, Kind.IDENTIFIER})
_EXACT = frozenset({Kind.NUMBER, Kind.IDENTIFIER})
_SIGNS = frozenset({"negation", "ends", "gone", "change", "fresh", "start", "until", "scope", "light"})
"""Classes of words that say how to take the others, and nothing beside them."""
_ALWAYS = frozenset({"open/0", "open/1", "above/0", "above/1", "after/0", "after/1"})
"""Meanings that count even where the word is such a sign too: "closed", "over 50k", "before the release"."""


@dataclass(frozen=True, slots=True)
class Term:
    """One term. `form` is folded; `classes` and `meanings` are the lexicon's; `day` is set for a date."""

    form: str
    kind: Kind = Kind.WORD
    classes: frozenset[str] = frozenset()
    meanings: frozenset[str] = frozenset()
    day: dates.Day | None = None

    @property
    def weighs(self) -> bool:
        """False for what only holds a sentence together."""
        if self.kind is not Kind.WORD:
            return True
        if not self.classes.isdisjoint(_SIGNS):
            return not self.meanings.isdisjoint(_ALWAYS)
        return bool(self.meanings or self.classes) or self.form not in stop_words()

    @property
    def keys(self) -> frozenset[str]:
        """What it has in common with each term that it says, or that excludes it."""
        if self.day is not None:
            return frozenset({Kind.DATE})
        rows = {meaning.partition("/")[0] for meaning in self.meanings}
        return frozenset({_spelt(self.form)[: SHORTEST_STEM - 1], *rows})

    def says(self, other: Term) -> bool:
        """True if this term says what the other says, or more exactly: a day in the month that the other names."""
        if self.day is not None or other.day is not None:
            return self.day is not None and other.day is not None and self.day.within(other.day)
        one, two = self.form, other.form
        if one == two:
            return True
        if self.meanings or other.meanings:
            return not self.meanings.isdisjoint(other.meanings)
        if one[:1] != two[:1] or self.kind in _EXACT or other.kind in _EXACT:
            return False
        if _spelt(one) == _spelt(two):
            return True
        both_names = self.kind is Kind.NAME and other.kind is Kind.NAME
        # "Martina" is no form of "Martin" where we can't tell.
        return inflected(one, two) and not (both_names and _may_be_two_people(one, two))

    def opposes(self, other: Term) -> bool:
        return opposed(self.meanings, other.meanings)


def read(text: str) -> list[Term]:
    """The terms of a text in order, those without weight too.

    >>> [term.form for term in read("port 6,200 behind the proxy") if term.weighs]
    ['port', '6200', 'behind', 'proxy']
    """
    text = _PLACEHOLDER.sub(" ", text)
    found: list[Term] = []
    at = 0
    for dated in dates.find(text):
        found += _plain(text[at : dated.start])
        found.append(Term(text[dated.start : dated.end].casefold(), Kind.DATE, day=dated.day))
        at = dated.end
    return _joined(found + _plain(text[at:]))


def _joined(terms: list[Term]) -> list[Term]:
    """Terms that mean something else beside their neighbour: two weeks are 14 days, "room 4" is a room."""
    found: list[Term] = []
    for term in terms:
        before = found[-1] if found else None
        if before and before.kind is Kind.NUMBER and before.form.isdigit() and "week" in term.meanings:
            found[-1] = Term(str(7 * int(before.form)), Kind.NUMBER)
            term = replace(term, meanings=frozenset({"day"}))
        elif before and term.kind is Kind.NUMBER and "numbered" in before.classes:
            term = replace(term, kind=Kind.IDENTIFIER)
        elif before and not before.classes.isdisjoint({"start", "until", "scope"}):
            day = dates.month_named(term.form)
            term = term if day is None else Term(term.form, Kind.DATE, day=day)
        found.append(term)
    return found


def _plain(text: str) -> list[Term]:
    text = _THOUSANDS.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    text = _DECIMAL_COMMA.sub(r"\1.\2", text)
    text = _PM.sub(_hours, text)
    text = _RANGE.sub(r"\1 \2", text)
    return list(_phrased([word for chunk in _CHUNK.findall(text) for word in _pieces(chunk)]))


def _hours(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] in "pP" else 0)
    return f"{hour}:{match[2]}" if match[2] and match[2] != "00" else str(hour)


def _pieces(chunk: str) -> Iterator[str]:
    """The words of a run without spaces: an identifier whole, a hyphened word in its parts, CJK by the lexicon."""
    chunk = _POSSESSIVE.sub("", chunk.strip(_OUTER)).strip(_OUTER)
    at = 0
    for run in _CJK_RUN.finditer(chunk):
        if left := chunk[at : run.start()].strip(_OUTER):
            yield left
        yield from _cut(run[0])
        at = run.end()
    rest = chunk[at:].strip(_OUTER) if at else chunk
    if not rest or (not any(c.isalnum() for c in rest) and rest not in "<>%&+"):
        return
    bare = rest.lstrip("-") if len(rest.lstrip("-")) > 1 else rest
    if "-" in bare.strip("-") and bare.replace("-", "").isalpha() and fold(bare) not in lexicon().classes:
        # "re-index" says what "index" does, once more.
        yield from (part for part in bare.split("-") if part and part.casefold() != "re")
    elif re.fullmatch(r"[^\W\d_]+(?:/[^\W\d_]+)+", bare) and bare.count("/") == 1 and bare[:1].isupper():
        yield from bare.split("/")
    else:
        yield bare


def _cut(run: str) -> Iterator[str]:
    """A CJK run cut at what the lexicon knows, the longest first; what is left between is a word of its own."""
    at = kept = 0
    while at < len(run):
        known = next((word for word in lexicon().cjk if run.startswith(word, at)), None)
        if known is None:
            at += 1
            continue
        yield from (part for part in _HIRAGANA.split(run[kept:at]) if part)
        yield known
        at = kept = at + len(known)
    yield from (part for part in _HIRAGANA.split(run[kept:]) if part)


def _phrased(words: Sequence[str]) -> Iterator[Term]:
    """Terms of words, those of a phrase joined."""
    known = lexicon()
    folded = [_folded(word) for word in words]
    at = 0
    while at < len(words):
        for length in range(min(LONGEST_PHRASE, len(words) - at), 1, -1):
            phrase = " ".join(folded[at : at + length])
            if phrase in known.classes:
                yield Term(phrase, Kind.WORD, *known.look_up(phrase))
                at += length
                break
        else:
            yield _term(words[at], folded[at])
            at += 1


def _folded(word: str) -> str:
    """A word folded; a Polish ending that folding would hide ("Olę") as that of the bare name."""
    bare = _POLISH_CASE.sub("a", word) if word[:1].isupper() or len(word) > len("się") else word
    return fold(bare).replace("’", "'")


def _term(word: str, folded: str) -> Term:
    if folded.endswith("n't") or folded in ("dont", "doesnt", "wont", "cant", "cannot"):
        return Term(folded, Kind.WORD, frozenset({"negation"}))
    if folded in _COUNT_WORDS:
        return Term(str(_COUNT_WORDS[folded]), Kind.NUMBER)
    number = _NUMBER.fullmatch(folded)
    if number:
        return Term(_count(folded, number["unit"] or ""), Kind.NUMBER)
    classes, meanings = lexicon().look_up(folded)
    if classes:
        return Term(folded, Kind.WORD, classes, meanings)
    if re.search(r"\d|\w[./:@=_#+]\w|^-\w$", folded):
        return Term(folded, Kind.IDENTIFIER)
    return Term(folded, Kind.NAME if word[:1].isupper() else Kind.WORD)


def _count(folded: str, unit: str) -> str:
    """A number in one form: "50k" is 50000, "2x" is 2, "60%" is 60."""
    bare = folded.strip("~≈<>€$").removesuffix(unit) if unit else folded.strip("~≈<>€$")
    bare = bare.removesuffix(":00") if bare.count(":") == 1 else bare
    if unit in _FACTOR and bare.isdigit():
        return str(int(bare) * _FACTOR[unit])
    return bare if unit in ("", "x", "%", "h", "°", "°c") else bare + unit


@lru_cache(maxsize=4_096)
def _spelt(form: str) -> str:
    """ "toennies" as "tonnies", which "Tönnies" folds to."""
    return _UMLAUT.sub(r"\1", form)


def _may_be_two_people(one: str, other: str) -> bool:
    return {one, other} in ({one, one + "a"}, {other, other + "a"}, {one, one + "e"}, {other, other + "e"})
