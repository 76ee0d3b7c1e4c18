"""A query, read: its terms, and the names that it may hold. Bounded, whatever was pasted into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from nextlevel.lang.detect import language
from nextlevel.lang.inflection import base_forms
from nextlevel.lang.lexicon import compound, synonyms
from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import content_words, fold, stem, stop_words, words
from nextlevel.safety.markers import strip

MAX_CHARS = 1_500
_LONGEST_NAME = 5  # words
_MOST_NAMES = 1_000
_SHORTEST_INFLECTED = 5  # letters of a word that may have an ending: shorter ones are too much alike
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_EDGES = ".,;:!?'\"()[]{}…“”„’"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing the query asks about: a word, or an identifier or a compound as a whole with its parts.

    `others` are words that mean the same, in any language, `part_others` those of each part. `is_compound`: its parts
    are the dictionary's guess, and not written apart.
    """

    whole: str
    parts: tuple[str, ...] = ()
    others: frozenset[str] = frozenset()
    part_others: tuple[frozenset[str], ...] = ()
    is_compound: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return (self.whole, *self.parts)

    @property
    def alike(self) -> frozenset[str]:
        """All words that mean the same as the term or a part of it."""
        return self.others.union(*self.part_others)


@dataclass(frozen=True, slots=True)
class Query:
    """`text` as the embedder gets it, its `terms` without function words, and the `names` an entity may have in it."""

    text: str
    terms: tuple[Term, ...]
    names: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for term in self.terms for word in (*term.words, *term.alike))

    @property
    def asks(self) -> bool:
        """False for a greeting, thanks, an emoji, or function words alone: there is nothing to look for."""
        return any(term.whole not in _phatic() for term in self.terms)


@lru_cache(maxsize=256)
def read(text: str) -> Query:
    """Clean and cut a query, and find its terms."""
    text = " ".join(_CONTROL.sub(" ", strip(text[: 4 * MAX_CHARS])).split())[:MAX_CHARS]
    tongue = language(text, otherwise="")
    terms = dict.fromkeys(term for run in text.split() for term in _terms(run, tongue))
    return Query(text, tuple(terms), _names(text))


def _terms(run: str, tongue: str) -> list[Term]:
    found = content_words(run)
    if _CJK_RUN.search(run) is not None:
        return [Term(word) for word in found]  # bigrams
    # An identifier comes whole and in its parts.
    if len(found) > 1 and len(found[0]) > max(len(word) for word in found[1:]):
        return [Term(found[0], tuple(found[1:]), part_others=tuple(_others(part, tongue) for part in found[1:]))]
    if len(found) != 1:
        return [Term(word) for word in found]
    said = fold(run).strip(_EDGES)
    parts = compound(said)
    stems = tuple(stem(part) for part in parts)
    others = tuple(_others(part, tongue) for part in parts)
    return [Term(found[0], stems, _others(said, tongue), others, is_compound=bool(parts))]


@lru_cache(maxsize=4_096)
def _others(word: str, tongue: str) -> frozenset[str]:
    """The words that mean the same as a word of a language and its own base forms, as texts are indexed by them."""
    forms = base_forms(word) if len(word) >= _SHORTEST_INFLECTED else ()
    same = (each for each in synonyms(word, tongue) if not _CJK_RUN.search(each))
    return frozenset(found for each in (*forms, *same) for found in words(each)[:1]) - {stem(word)}


def _names(text: str) -> frozenset[str]:
    """Every run of up to five words, as aliases are spelled; in CJK, where words have no borders, of characters."""
    tokens = [name for run in fold(text).split() if (name := normal_name(run))]
    names = {
        " ".join(tokens[start:end])
        for start in range(len(tokens))
        for end in range(start + 1, min(start + _LONGEST_NAME, len(tokens)) + 1)
    }
    for run in _CJK_RUN.findall(text):
        names |= {run[start:end] for start in range(len(run)) for end in range(start + 2, min(start + 6, len(run)) + 1)}
    return frozenset(sorted(names - stop_words(), key=len, reverse=True)[:_MOST_NAMES])


@cache
def _phatic() -> frozenset[str]:
    """Words that keep a talk going and ask for nothing, in the languages we know."""
    lines = (files(__package__) / "phatic.txt").read_text("utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in content_words(line))
