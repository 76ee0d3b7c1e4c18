"""A query, read: its terms, and the names that it may hold. Bounded, whatever was pasted into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import content_words, fold, stop_words
from nextlevel.safety.markers import strip

MAX_CHARS = 1_500
_LONGEST_NAME = 5  # words
_MOST_NAMES = 1_000
_CJK_RUN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing the query asks about: a word, or an identifier as a whole with its parts."""

    whole: str
    parts: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        return (self.whole, *self.parts)


@dataclass(frozen=True, slots=True)
class Query:
    """`text` as the embedder gets it, its `terms` without function words, and the `names` an entity may have in it."""

    text: str
    terms: tuple[Term, ...]
    names: frozenset[str]

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for term in self.terms for word in term.words)

    @property
    def asks(self) -> bool:
        """False for a greeting, thanks, an emoji, or function words alone: there is nothing to look for."""
        return any(term.whole not in _phatic() for term in self.terms)


def read(text: str) -> Query:
    """Clean and cut a query, and find its terms."""
    text = " ".join(_CONTROL.sub(" ", strip(text[: 4 * MAX_CHARS])).split())[:MAX_CHARS]
    terms = dict.fromkeys(term for run in text.split() for term in _terms(run))
    return Query(text, tuple(terms), _names(text))


def _terms(run: str) -> list[Term]:
    words = content_words(run)
    # An identifier comes whole and in its parts; the bigrams of a CJK run are all of one length.
    if len(words) > 1 and len(words[0]) > max(len(word) for word in words[1:]):
        return [Term(words[0], tuple(words[1:]))]
    return [Term(word) for word in words]


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
