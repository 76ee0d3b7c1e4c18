"""Which candidates matter, in what order, and why: evidence first, then one score from 0 to 1.

Evidence is absolute and judged before channels are joined: fusion by rank has no floor, any query gets its top five.
Channels are sums of normalised scores, not of ranks: ranks let the weaker list pull the stronger one down (LoCoMo
recall@10: .516 to .609 by ranks, .614 by words alone, .644 by scores).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from nextlevel.lang.tokens import words
from nextlevel.model import Verdict

from .answer import Mode
from .coverage import VECTOR_FROM, Weighed, nearness, weigh
from .query import Query
from .retrieve import Candidate, Candidates

# What each channel adds, words being 1. A prefetch asks for both kinds of evidence at once: a project's name brings all
# its blocks near, and one of the words of a question stands in many.
_GRAPH = 0.25
_VECTOR = {Mode.PREFETCH: 0.25, Mode.SEARCH: 1.0}
_BOTH = {Mode.PREFETCH: 1.0, Mode.SEARCH: 0.0}
# A step in the graph, as a score.
_HOP = {0: 0.0, 1: 1.0, 2: 0.4}
_HALF_LIFE_DAYS = 90.0
# What a person's verdict makes of a score: enough to decide between two that are about as good, not more.
_VERDICT = {None: 1.0, Verdict.USED: 1.05, Verdict.WRONG: 0.8}
_SAID = {Verdict.USED: "was said to be of use", Verdict.WRONG: "was said to be wrong"}
_EXPLAINED = 10  # of those left out
# A block that shares no word with the question, as in another language, must be near and stand out: its lift, and how
# far that is above the mean of the next five.
_ALONE_LIFT, _ALONE_ABOVE, _NEXT = 0.09, 0.015, 5


@dataclass(frozen=True, slots=True)
class Bar:
    """What lets a block in: words and nearness together, or its share of the query's words where nothing is compared.

    `first` is asked of the best, `more` of those beside it; `beside_best` is the share of the best score below which a
    block only distracts, `most` how many are let in. For a prefetch chosen on one half of bench/precision.jsonl: on the
    other, 10,000 blocks about other things beside it, .75 of the lines are right and no question without an answer gets
    any; with a bar for words or nearness alone it was .25, and every third did.
    """

    first: float
    more: float
    words_alone: float
    beside_best: float
    most: int


_BARS = {
    Mode.PREFETCH: Bar(first=0.7, more=1.2, words_alone=0.5, beside_best=0.8, most=4),
    Mode.SEARCH: Bar(first=0.1, more=0.1, words_alone=0.1, beside_best=0.3, most=12),
}


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its score from 0 to 1, what each channel gave, and the reason for a person."""

    candidate: Candidate
    score: float
    channels: dict[str, float]
    why: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """What is let in, best first, and what was left out, with the reason."""

    kept: tuple[Ranked, ...]
    dropped: tuple[Ranked, ...]


def rank(query: Query, candidates: Candidates, *, mode: Mode, now: datetime, most: int | None = None) -> Ranking:
    """Judge every candidate. Nothing is kept where nothing is known: the five nearest memories are no answer.

    `most` bounds what is kept, where the mode's own bound is not meant.
    """
    terms = weigh(query.terms, candidates.weights, candidates.blocks)
    names = [(bearers, frozenset(words(alias))) for alias, bearers in candidates.named.items()]
    judged = [_judge(terms, candidates, names, each, mode, now) for each in candidates.found]
    judged.sort(key=lambda each: (-each.score, each.candidate.entry.found.block.id))
    alone = _standing_out(judged)
    bar = _BARS[mode] if most is None else replace(_BARS[mode], most=most)
    kept: list[_Judged] = []
    dropped: list[Ranked] = []
    for each in judged:
        refusal = _refusal(each, bar, kept, alone=each is alone)
        if refusal is None:
            kept.append(each)
        elif len(dropped) < _EXPLAINED:
            dropped.append(each.ranked(refusal))
    return Ranking(tuple(each.ranked(_why(each, terms, candidates.named)) for each in kept), tuple(dropped))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A candidate under judgement."""

    candidate: Candidate
    says: frozenset[str]
    compared: bool
    evidence: float
    score: float
    coverage: float
    lift: float
    near: float
    recency: float

    def ranked(self, why: str) -> Ranked:
        channels = {
            "words": round(self.coverage, 3),
            "vector": round(self.near, 3),
            "graph": _HOP[self.candidate.hop],
            "recency": round(self.recency, 3),
            "confidence": round(self.candidate.entry.found.block.confidence, 3),
            "lift": round(self.lift, 4),
        }
        verdict = self.candidate.entry.found.verdict
        if verdict is not None:
            channels["feedback"] = _VERDICT[verdict]
        return Ranked(self.candidate, round(self.score, 4), channels, why)


def _standing_out(judged: Sequence[_Judged]) -> _Judged | None:
    """The block that is much nearer in meaning than all others, if there is one."""
    nearest = sorted(judged, key=lambda each: -each.lift)[: 1 + _NEXT]
    if not nearest or nearest[0].lift < _ALONE_LIFT:
        return None
    following = [each.lift for each in nearest[1:]]
    others = sum(following) / len(following) if following else 0.0
    return nearest[0] if nearest[0].lift - others >= _ALONE_ABOVE else None


def _refusal(judged: _Judged, bar: Bar, kept: Sequence[_Judged], *, alone: bool) -> str | None:
    """Why a candidate is not let in; None if it is."""
    needed = (bar.more if kept else bar.first) if judged.compared else bar.words_alone
    if judged.evidence < needed and not alone:
        share, lift = f"{judged.coverage:.0%} of the query's words", f"{judged.lift:+.3f} over the average cosine"
        return f"too little evidence: {share}, {lift}"
    if kept and judged.score < bar.beside_best * kept[0].score:
        return f"far behind the best: {judged.score:.2f} to {kept[0].score:.2f}"
    if len(kept) >= bar.most:
        return f"more than {bar.most} were better"
    return None


def _judge(
    terms: Weighed,
    candidates: Candidates,
    names: Sequence[tuple[frozenset[UUID], frozenset[str]]],
    candidate: Candidate,
    mode: Mode,
    now: datetime,
) -> _Judged:
    block = candidate.entry.found.block
    says = _says(candidate, names)
    coverage = terms.covered(says)
    evidence, full = coverage, 1.0
    lift, near, compared = 0.0, 0.0, False
    if candidate.cosine is not None and candidates.mean_cosine is not None:
        lift, compared = candidate.cosine - candidates.mean_cosine, True
        near = nearness(lift)
        evidence += _VECTOR[mode] * near + _BOTH[mode] * coverage * near
        full += _VECTOR[mode] + _BOTH[mode]
    recency = decay((now - block.valid_from).total_seconds() / 86_400, _HALF_LIFE_DAYS)
    trust = (0.85 + 0.15 * recency) * (0.7 + 0.3 * block.confidence) * (1.0 if block.explicit else 0.95)
    score = (evidence + _GRAPH * _HOP[candidate.hop]) / (full + _GRAPH) * trust
    score = min(score * _VERDICT[candidate.entry.found.verdict], 1.0)
    return _Judged(candidate, says, compared, evidence, score, coverage, lift, near, recency)


def _says(candidate: Candidate, names: Sequence[tuple[frozenset[UUID], frozenset[str]]]) -> frozenset[str]:
    """A block's words. A name in the query counts as said by every block that speaks of its bearer, by any name."""
    says = candidate.entry.says
    for bearers, name in names:
        if not bearers.isdisjoint(candidate.entry.found.entities):
            says |= name
    return says


def _why(judged: _Judged, weighed: Weighed, named: Mapping[str, frozenset[UUID]]) -> str:
    reasons = []
    candidate = judged.candidate
    matched = weighed.matched(judged.says)
    if matched:
        reasons.append("says " + ", ".join(f"“{word}”" for word in matched[:5]))
    if candidate.hop == 1:
        spoken = sorted(alias for alias, who in named.items() if who & candidate.entry.found.entities)
        reasons.append("speaks of " + ", ".join(spoken))
    elif candidate.hop == 2:
        reasons.append("is one step in the graph from what the query names")
    if judged.lift >= VECTOR_FROM:
        reasons.append(f"is near in meaning ({judged.lift:+.3f} over the average)")
    if candidate.entry.found.block.explicit:
        reasons.append("was told to be remembered")
    if candidate.entry.found.verdict is not None:
        reasons.append(_SAID[candidate.entry.found.verdict])
    return "; ".join(reasons) or "shares nothing with the query"


def decay(age_days: float, half_life_days: float) -> float:
    """How much of a score its age leaves, 0..1.

    1.0 today, 0.5 after one half-life, never quite 0. A negative age (a clock ahead of ours) counts as today.

    Raises:
        ValueError: half_life_days is not positive.
    """
    if half_life_days <= 0:
        raise ValueError(f"half_life_days is {half_life_days}; it must be positive")
    return float(0.5 ** (max(age_days, 0.0) / half_life_days))
