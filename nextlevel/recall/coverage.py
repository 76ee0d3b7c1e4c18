"""How much of a query a text says, by the weight of its words: evidence that is absolute, whatever else was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import log

from nextlevel.lang.lexicon import SHORTEST_COMPOUND, alike, compound
from nextlevel.lang.tokens import stem

from .query import Term

# A long message has many words that are not what it is about.
_COUNTED_TERMS = 5
# A query's cosine to everything is high with E5 (0.74 to 0.81 on average); what tells is how far one text stands above
# that average. On our probes answers stand 0.07 to 0.11 above it, and the best block for a question about nothing 0.02
# to 0.045.
VECTOR_FROM, _VECTOR_FULL = 0.02, 0.10
_NEAR = 0.25
# "Saved" is less of a sign than what was saved. In the order among turns all words count alike: one that says even
# these is the likelier one (recall@10 on LoCoMo's tuning half, turns alone: .790; halved there too, .782).
_COMMON_WORD = 0.5
_SHORTEST_FORM = 5  # letters: shorter words are compared as they stand


@dataclass(frozen=True, slots=True)
class Said:
    """The words of a text, as texts are indexed by them; `forms` are the longer ones by their first letters."""

    words: frozenset[str]
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, words: Iterable[str]) -> Said:
        """With what compounds are made of, and with forms, so that another form of one of the words is found too."""
        held = frozenset(words)
        parts = [stem(part) for word in held if len(word) >= SHORTEST_COMPOUND for part in compound(word)]
        held = held.union(parts)
        return cls(held, _long_ones(held))

    def also(self, words: frozenset[str]) -> Said:
        """The same, and some words more."""
        return Said(self.words | words, self.forms)

    def holds(self, word: str, others: frozenset[str]) -> bool:
        """True if the text says a word, one of the others that mean the same, or a form of either."""
        if word in self.words or not others.isdisjoint(self.words):
            return True
        wanted = _by_beginning(word, others)
        # Most texts share no beginning with it: that is told at once, 180 times a question.
        if wanted.keys().isdisjoint(self.forms):
            return False
        return any(
            alike(one, each) for start, ones in wanted.items() for one in ones for each in self.forms.get(start, ())
        )


@lru_cache(maxsize=4_096)
def _by_beginning(word: str, others: frozenset[str]) -> Mapping[str, tuple[str, ...]]:
    return _long_ones((word, *others))


def _long_ones(words: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Those of the words that may have endings, by their first letters."""
    found: dict[str, tuple[str, ...]] = {}
    for word in words:
        if len(word) >= _SHORTEST_FORM and word.isalpha():
            start = word[:_SHORTEST_FORM]
            found[start] = (*found[start], word) if start in found else (word,)
    return found


@dataclass(frozen=True, slots=True)
class WeighedTerm:
    """A term of the query: its weight, its parts' shares of it, and the words that say the same as it or as a part."""

    whole: str
    weight: float
    parts: tuple[tuple[str, float], ...] = ()
    others: frozenset[str] = frozenset()
    part_others: tuple[frozenset[str], ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """All that it may be said by, at least in part."""
        return self.others.union([self.whole], (part for part, _ in self.parts), *self.part_others)

    def covered(self, said: Said) -> float:
        """How much of its weight a text says: an identifier counts whole, or by its parts."""
        if said.holds(self.whole, self.others):
            return self.weight
        if not self.parts:
            return 0.0
        others = self.part_others or (frozenset[str](),) * len(self.parts)
        return sum(share for (part, share), same in zip(self.parts, others, strict=True) if said.holds(part, same))


@dataclass(frozen=True, slots=True)
class Weighed:
    """The query's terms, weighed, and the weight that would be all of it.

    `words` are all that any term may be said by, `beginnings` those of their other forms.
    """

    terms: tuple[WeighedTerm, ...]
    full: float
    words: frozenset[str]
    beginnings: frozenset[str]

    def covered(self, said: Said) -> float:
        """How much of the query a text says, 0..1."""
        return min(self.weight_in(said) / self.full, 1.0) if self.full else 0.0

    def weight_in(self, said: Said) -> float:
        # Of 180 candidates of a question half share no word with it.
        if self.words.isdisjoint(said.words) and self.beginnings.isdisjoint(said.forms):
            return 0.0
        return sum(term.covered(said) for term in self.terms)

    def matched(self, said: Said) -> list[str]:
        """The terms that a text holds, at least in part."""
        return [term.whole for term in self.terms if term.covered(said)]


def weigh(terms: Iterable[Term], weights: Mapping[str, float], units: int, common: Collection[str]) -> Weighed:
    """Weigh the terms of a query by the idf of their words in `units` texts.

    A word that no text has weighs most: that it is missing says most. An identifier weighs as its rarest word, one of
    the `common` words that a question is put with half.
    """
    unknown = rarest(units)
    weighed = []
    for term in terms:
        weight = max(weights.get(word, 0.0) for word in term.words) or unknown
        weight *= _COMMON_WORD if term.whole in common else 1.0
        parts = [weights.get(part, unknown) for part in term.parts]
        shares = tuple((part, weight * each / sum(parts)) for part, each in zip(term.parts, parts, strict=True))
        weighed.append(WeighedTerm(term.whole, weight, shares))
    return whole(weighed, unknown)


def whole(terms: Iterable[WeighedTerm], unknown: float) -> Weighed:
    """Terms as one: of a long message five words are enough."""
    held = tuple(terms)
    said_by = frozenset(word for each in held for word in each.words)
    full = min(sum(each.weight for each in held), _COUNTED_TERMS * unknown)
    return Weighed(held, full, said_by, frozenset(_long_ones(said_by)))


def rarest(units: int) -> float:
    """The weight of a word that none of so many texts has."""
    return log(1 + 2 * max(units, 1))


def nearness(lift: float) -> float:
    """How near in meaning a lift over the average cosine is, 0..1: 0 up to 0.02, 1 from 0.10."""
    return min(max((lift - VECTOR_FROM) / (_VECTOR_FULL - VECTOR_FROM), 0.0), 1.0)


def evidence(share: float, near: float) -> float:
    """Words and nearness as one, 0..2.25: either alone is little, both together are most."""
    return share + _NEAR * near + share * near
