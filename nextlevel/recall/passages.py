"""Past turns held in memory and ranked: by words, by words together with the turn before, by meaning, by neighbours.

Fused by normalised scores, as blocks are. The constants are round, and tuned on one half of LoCoMo (conversations 26,
30, 41, 42, 43). Recall@10 there: .544 by vectors, .602 by words, .628 by their roots (lang/roots.py), .749 with all
that follows but vectors, .790 with them.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import log

import numpy as np

from nextlevel.inference import Vector
from nextlevel.lang.roots import root
from nextlevel.lang.tokens import words
from nextlevel.lang.when import When
from nextlevel.store.passages import Passage

from . import asked
from .coverage import Said, Weighed, weigh
from .passage_rows import Floats, PassageRows, Rows
from .query import Query, Term

# What each list adds, as z-scores: the words of a turn, its words with those of the turn before, the cosine.
_WORDS, _WORDS_IN_CONTEXT, _VECTOR = 1.0, 1.0, 2.0
# A share of the scores of the turns just before and after: an answer often stands beside the words that were asked for.
_NEIGHBOUR = 0.3
# Where no passage says this share of the query, the question was put in other words: words then count less, as far as
# there are vectors.
_WORDS_TRUSTED_FROM = 0.8
# Who spoke, when, and whether it can be an answer at all.
_SPEAKER, _DATE, _WEAK = 1.0, 1.0, -0.3

_K1, _B = 1.2, 0.75  # BM25, as everywhere

COMPARED_ABOVE = 1_000
"""Passages above which signs and words choose whom to compare: 20,000 cosines in half precision take 30 ms."""
_BY_SIGNS, _BY_WORDS = 300, 200


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for in past turns: the roots of a query's terms, names that may be speakers, and a named time.

    `asides` are roots that say nothing of what it is about: those of the time itself, of "what did I say"; `common`
    those of words that a question is merely put with.
    """

    terms: tuple[Term, ...]
    asides: frozenset[str]
    common: frozenset[str]
    names: frozenset[str]
    when: When | None

    @classmethod
    def of(cls, query: Query, when: When | None, asides: frozenset[str] = frozenset()) -> Sought:
        # A turn is found by the words that it was said in: tuned so, and not by what a compound may be made of.
        apart = ((term.whole, () if term.is_compound else term.parts) for term in query.terms)
        terms = (Term(root(whole), tuple(root(part) for part in parts)) for whole, parts in apart)
        if when is not None:
            asides |= frozenset(root(word) for word in words(when.said))
        common = frozenset(root(term.whole) for term in query.terms if asked.is_common(term.whole))
        return cls(tuple(dict.fromkeys(terms)), asides, common, query.names, when)

    @property
    def about(self) -> tuple[Term, ...]:
        """The terms that evidence is counted in."""
        return tuple(term for term in self.terms if term.whole not in self.asides)

    @property
    def words(self) -> frozenset[str]:
        return frozenset(word for term in self.terms for word in term.words)


@dataclass(frozen=True, slots=True)
class Heard:
    """A past turn that fits. `score` places it among the others; coverage and lift are evidence by themselves.

    `coverage` is the share of the query that it says, `lift` how far its cosine stands above the average (None: not
    compared), `matched` the roots that it shares with the query, `weighed` the query's terms.
    """

    passage: Passage
    score: float
    lift: float | None
    matched: frozenset[str]
    weighed: Weighed

    @property
    def coverage(self) -> float:
        return self.weighed.covered(Said(self.matched))


@dataclass(frozen=True, slots=True)
class Whole:
    """What an index of candidates must know of all passages: how many, with each word, and how their cosines lie."""

    passages: int
    counts: Mapping[str, int]
    mean: float
    deviation: float


class PassageIndex:
    """Passages, found within a millisecond or two for 10,000. Change it with `put` and `drop`, then `settle`."""

    def __init__(self, dimension: int) -> None:
        self._rows = PassageRows(dimension)
        self._passages: list[Passage] = []
        self._row: dict[str, int] = {}
        self._place: dict[tuple[str, int], int] = {}
        self._with_word: dict[str, array[int]] = defaultdict(lambda: array("i"))
        self._by_speaker: dict[str, array[int]] = defaultdict(lambda: array("i"))

    def __len__(self) -> int:
        return len(self._row)

    @property
    def wasted(self) -> int:
        """Rows of passages that were dropped."""
        return len(self._passages) - len(self._row)

    def stale(self, heads: Mapping[str, bool]) -> tuple[set[str], list[str]]:
        """Compare with what there should be, and whether with a vector: the turns to drop, and those to read anew."""
        held = {turn_id: bool(self._rows.compared[row]) for turn_id, row in self._row.items()}
        anew = [turn_id for turn_id, embedded in heads.items() if turn_id not in held or embedded > held[turn_id]]
        return held.keys() - heads.keys(), anew

    def put(self, passages: Iterable[Passage]) -> None:
        """Add passages, or give those that are there their vectors."""
        for each in passages:
            row = self._row.get(each.turn_id)
            if row is None:
                row = self._add(each)
            if each.vector is not None:
                self._rows.vectors[row] = each.vector
                self._rows.compared[row] = True

    def drop(self, turn_ids: Iterable[str]) -> None:
        for turn_id in turn_ids:
            row = self._row.pop(turn_id, None)
            if row is not None:
                self._rows.alive[row] = self._rows.compared[row] = False

    def settle(self) -> None:
        """Make ready for queries after changes; costs a millisecond for 1,000 passages, where there are many."""
        if len(self._rows.with_vector()) > COMPARED_ABOVE:
            self._rows.code()

    def find(self, sought: Sought, vector: Vector | None, *, limit: int, whole: Whole | None = None) -> list[Heard]:
        """The passages that fit best. `whole` is given where only candidates are held here."""
        if not self._row:
            return []
        total = len(self._row) if whole is None else whole.passages
        idf = self._idf(sought.words, total, {} if whole is None else whole.counts)
        holding = {word: self._holding(word) for word in idf}
        alone, in_context = self._by_words(idf, holding)
        weighed = weigh(sought.about, idf, total, sought.common)
        trust = 1.0 if vector is None else min(self._best_coverage(weighed, holding) / _WORDS_TRUSTED_FROM, 1.0)
        score = trust * (_WORDS * _z(alone, total) + _WORDS_IN_CONTEXT * _z(in_context, total))
        rows, lifts = self._rows.used(), np.full(self._rows.count, np.nan)
        if vector is not None and self._rows.compared.any():
            rows, compared, mean, deviation = self._choose(vector, score, whole)
            lifts[compared] = self._rows.cosines(compared, vector) - mean
            score = score + _VECTOR * np.nan_to_num(lifts) / max(deviation, 1e-6)
        score = score + _NEIGHBOUR * (self._rows.of_turn_before(score) + self._rows.of_turn_after(score))
        score = _z(score, total) + self._asides(sought)
        best = rows[_first(score[rows], limit)]
        found = []
        for row in best.tolist():
            matched = frozenset(word for word, holds in holding.items() if holds[row])
            lift = None if np.isnan(lifts[row]) else float(lifts[row])
            found.append(Heard(self._passages[row], float(score[row]), lift, matched, weighed))
        return found

    def _best_coverage(self, weighed: Weighed, holding: Mapping[str, Floats]) -> float:
        """The most of the query that any one passage says."""
        found = np.zeros(self._rows.count)
        for term in weighed.terms:
            held = term.weight * holding[term.whole] if term.whole in holding else 0.0
            split = sum((share * holding[part] for part, share in term.parts if part in holding), np.zeros(1))
            found = found + np.maximum(held, split)
        return float(found.max()) / weighed.full if weighed.full else 0.0

    def _idf(self, words: Iterable[str], total: int, counts: Mapping[str, int]) -> dict[str, float]:
        """How rare each word is. In an index of candidates `counts` tells of the others."""
        found = {}
        for word in words:
            count = counts.get(word) or len(self._with_word.get(word, ()))
            if count:
                found[word] = log(1 + (max(total - count, 0) + 0.5) / (count + 0.5))
        return found

    def _holding(self, word: str) -> Floats:
        """1 for each row that holds a word."""
        held = np.zeros(self._rows.count)
        held[np.frombuffer(self._with_word.get(word, array("i")), dtype=np.int32)] = 1
        return held

    def _by_words(self, idf: Mapping[str, float], holding: Mapping[str, Floats]) -> tuple[Floats, Floats]:
        """BM25 of each turn alone, and together with the turn before it. A turn counts a word once."""
        alone, in_context = np.zeros(self._rows.count), np.zeros(self._rows.count)
        length = self._rows.length[: self._rows.count].astype(np.float64)
        norm, norm_in_context = (
            _K1 * (1 - _B + _B * each / max(each.mean(), 1.0))
            for each in (length, length + self._rows.of_turn_before(length))
        )
        for word, weight in idf.items():
            once = np.flatnonzero(holding[word])
            alone[once] += weight * (_K1 + 1) / (1 + norm[once])
            # A turn whose forerunner has the word too holds it twice.
            twice = holding[word].copy()
            after = self._rows.after[once]
            twice[after[after >= 0]] += 1
            held = np.flatnonzero(twice)
            in_context[held] += weight * twice[held] * (_K1 + 1) / (twice[held] + norm_in_context[held])
        alive = self._rows.alive[: self._rows.count]
        return alone * alive, in_context * alive

    def _choose(self, vector: Vector, score: Floats, whole: Whole | None) -> tuple[Rows, Rows, float, float]:
        """The rows that may be answers, those of them to compare, and how cosines lie: mean and deviation."""
        rows, compared = self._rows.used(), self._rows.with_vector()
        alike = self._rows.alike(vector, _BY_SIGNS) if len(compared) > COMPARED_ABOVE else None
        if alike is not None:
            best = np.argpartition(-score, _BY_WORDS)[:_BY_WORDS]
            chosen = np.concatenate([best, alike])
            wanted = np.zeros(self._rows.count, dtype=bool)
            wanted[chosen] = wanted[self._rows.beside(chosen)] = True
            rows, compared = rows[wanted[rows]], compared[wanted[compared]]
        if whole is not None:
            return rows, compared, whole.mean, whole.deviation
        cosines = self._rows.sampled(vector) if alike is not None else self._rows.cosines(compared, vector)
        return rows, compared, float(cosines.mean()), float(cosines.std())

    def _asides(self, sought: Sought) -> Floats:
        """What is no likeness: a weak turn, the speaker or the time that the query names."""
        found = _WEAK * self._rows.weak[: self._rows.count].astype(np.float64)
        named = sought.names & self._by_speaker.keys()
        if len(named) == 1:
            found[np.frombuffer(self._by_speaker[next(iter(named))], dtype=np.int32)] += _SPEAKER
        if sought.when is not None:
            days = self._rows.day[: self._rows.count]
            fitting = [day for day in np.unique(days).tolist() if sought.when.fits(day)]
            found += _DATE * np.isin(days, fitting)
        return found

    def _add(self, passage: Passage) -> int:
        rows, row = self._rows, self._rows.add()
        # Its words are in the index now, its vector in the rows.
        self._passages.append(replace(passage, words=(), vector=None))
        self._row[passage.turn_id] = row
        rows.weak[row] = passage.weak
        rows.length[row] = len(passage.words)
        rows.day[row] = passage.at.toordinal()
        for word in passage.words:
            self._with_word[word].append(row)
        if passage.speaker:
            self._by_speaker[passage.speaker].append(row)
        self._join(row, passage.session, passage.ordinal)
        return row

    def _join(self, row: int, session: str, ordinal: int) -> None:
        """Let a turn and those beside it in its session know each other, whichever came first."""
        self._place[session, ordinal] = row
        before, after = (self._place.get((session, ordinal + step), -1) for step in (-1, 1))
        self._rows.before[row], self._rows.after[row] = before, after
        if before >= 0:
            self._rows.after[before] = row
        if after >= 0:
            self._rows.before[after] = row


def _first(values: Floats, most: int) -> Rows:
    """The places of the highest values, highest first."""
    if len(values) <= most:
        return np.argsort(-values, kind="stable")
    best = np.argpartition(-values, most)[:most]
    return best[np.argsort(-values[best], kind="stable")]


def _z(values: Floats, total: int) -> Floats:
    """How many deviations each value stands above the mean of `total` values, of which those not given are 0."""
    mean = float(values.sum()) / total
    variance = max(float((values**2).sum()) / total - mean**2, 0.0)
    standing: Floats = (values - mean) / (variance**0.5 + 1e-9)
    return standing
