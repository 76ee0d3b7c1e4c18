"""How much of a query a text says, by the weight of its words: evidence that is absolute, whatever else was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from .query import Term

# A long message has many words that are not what it is about.
_COUNTED_TERMS = 5
# A query's cosine to everything is high with E5 (0.74 to 0.81 on average); what tells is how far one text stands above
# that average. On our probes answers stand 0.07 to 0.11 above it, and the best block for a question about nothing 0.02
# to 0.045.
VECTOR_FROM, _VECTOR_FULL = 0.02, 0.10


@dataclass(frozen=True, slots=True)
class Weighed:
    """The query's terms, each with its weight and its parts' shares of it; and the weight that would be all of it."""

    terms: tuple[tuple[str, float, tuple[tuple[str, float], ...]], ...]
    full: float

    def covered(self, says: frozenset[str]) -> float:
        """How much of the query these words say, 0..1: an identifier counts whole, or by its parts."""
        got = 0.0
        for whole, weight, parts in self.terms:
            got += weight if whole in says else sum(share for part, share in parts if part in says)
        return min(got / self.full, 1.0) if self.full else 0.0

    def matched(self, says: frozenset[str]) -> list[str]:
        """The terms that these words hold, at least in part."""
        return [whole for whole, _, parts in self.terms if whole in says or any(part in says for part, _ in parts)]


def weigh(terms: Iterable[Term], weights: Mapping[str, float], units: int) -> Weighed:
    """Weigh the terms of a query by the idf of their words in `units` texts.

    A word that no text has weighs most: that it is missing says most. An identifier weighs as its rarest word.
    """
    unknown = log(1 + 2 * max(units, 1))
    weighed = []
    for term in terms:
        weight = max(weights.get(word, 0.0) for word in term.words) or unknown
        parts = [weights.get(part, unknown) for part in term.parts]
        shares = tuple((part, weight * each / sum(parts)) for part, each in zip(term.parts, parts, strict=True))
        weighed.append((term.whole, weight, shares))
    total = sum(weight for _, weight, _ in weighed)
    return Weighed(tuple(weighed), min(total, _COUNTED_TERMS * unknown))


def nearness(lift: float) -> float:
    """How near in meaning a lift over the average cosine is, 0..1: 0 up to 0.02, 1 from 0.10."""
    return min(max((lift - VECTOR_FROM) / (_VECTOR_FULL - VECTOR_FROM), 0.0), 1.0)
