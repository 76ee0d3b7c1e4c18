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
from nextlevel.model import Block, Verdict

from .answer import Mode
from .coverage import VECTOR_FROM, Said, Weighed, evidence, nearness
from .demand import Demand
from .query import Query
from .retrieve import Candidate, Candidates

_GRAPH = 0.25  # what the graph adds, words being 1
_FULL_EVIDENCE = evidence(1.0, 1.0)
# A step in the graph, as a score.
_HOP = {0: 0.0, 1: 1.0, 2: 0.4}
_HALF_LIFE_DAYS = 90.0
# What a person's verdict makes of a score: enough to decide between two that are about as good, not more.
_VERDICT = {None: 1.0, Verdict.USED: 1.05, Verdict.WRONG: 0.8}
_SAID = {Verdict.USED: "was said to be of use", Verdict.WRONG: "was said to be wrong"}
_EXPLAINED = 10  # of those left out
# Where a question only names a thing, all that is told of it is evidence alike, and nearness must tell.
_BESIDE_BARE = 0.95
# How much surer what is not of the kind that a prefetch asks for must be, for each unit that the kind weighs: a role is
# no answer to "when".
_BESIDE = 0.025
# A block that shares no word with the question, as in another language, must be near and stand out: its lift, and how
# far that is above the mean of the next five.
_ALONE_LIFT, _ALONE_ABOVE, _NEXT = 0.09, 0.015, 5


@dataclass(frozen=True, slots=True)
class Bar:
    """What lets a block in: words and nearness together, or its share of the query's words where nothing is compared.

    `first` is asked of the best, `more` of those beside it; `beside_best` is the share of the best score below which a
    block only distracts, `most` how many are let in.
    """

    first: float
    more: float
    words_alone: float
    beside_best: float
    most: int


_BARS = {
    Mode.PREFETCH: Bar(first=0.95, more=1.5, words_alone=0.5, beside_best=0.8, most=4),
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
    """What is let in, best first, with the best one's evidence (0: none); and what was left out, with the reason."""

    kept: tuple[Ranked, ...]
    dropped: tuple[Ranked, ...]
    evidence: float = 0.0


def rank(
    query: Query,
    candidates: Candidates,
    *,
    mode: Mode,
    now: datetime,
    most: int | None = None,
    demand: Demand | None = None,
) -> Ranking:
    """Judge every candidate. Nothing is kept where nothing is known: the five nearest memories are no answer.

    `most` bounds what is kept, where the mode's own bound is not meant. `demand` is the query's, where it is known.
    """
    demand = Demand.of(query, candidates) if demand is None else demand
    judged = [_judge(demand, candidates.mean_cosine, each, mode, now) for each in candidates.found]
    judged.sort(key=lambda each: (-each.score, each.candidate.entry.found.block.id))
    # All that is told of a project is near a question that names it.
    alone = None if demand.projects else _standing_out(judged)
    bar = _BARS[mode] if most is None else replace(_BARS[mode], most=most)
    if demand.bare:
        bar = replace(bar, beside_best=max(bar.beside_best, _BESIDE_BARE))
    # Where a question asks who or where and somebody or some place is known for it, all else is beside the point.
    fitting = mode is Mode.PREFETCH and any(
        each.of_kind and _refusal(each, bar, (), alone=False) is None for each in judged
    )
    kept: list[_Judged] = []
    dropped: list[Ranked] = []
    for each in judged:
        if len(dropped) == _EXPLAINED and (len(kept) >= bar.most or _is_behind(each, bar, kept)):
            break  # and so are all after it
        refusal = _refusal(each, bar, kept, alone=each is alone)
        if refusal is None and fitting and not each.of_kind:
            refusal = "is not what is asked for"
        if refusal is None:
            kept.append(each)
        elif len(dropped) < _EXPLAINED:
            dropped.append(each.ranked(refusal))
    told = tuple(each.ranked(_why(each, demand.all, candidates.named)) for each in kept)
    return Ranking(told, tuple(dropped), max((each.evidence for each in kept), default=0.0))


def behind(ranking: Ranking, why: str) -> Ranking:
    """Nothing let in, for a reason."""
    return Ranking((), (*(replace(each, why=why) for each in ranking.kept), *ranking.dropped))


@dataclass(frozen=True, slots=True)
class _Judged:
    """A candidate under judgement."""

    candidate: Candidate
    said: Said
    agrees: bool
    of_kind: bool
    beside: float
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
    if not judged.agrees:
        return "is of another project than the one that is asked about"
    needed = (bar.more if kept else bar.first) if judged.compared else bar.words_alone
    needed += judged.beside
    if judged.evidence < needed and (kept or not alone or judged.beside):
        share, lift = f"{judged.coverage:.0%} of what is asked", f"{judged.lift:+.3f} over the average cosine"
        return f"too little evidence: {share}, {lift}"
    if _is_behind(judged, bar, kept):
        return f"far behind the best: {judged.score:.2f} to {kept[0].score:.2f}"
    if len(kept) >= bar.most:
        return f"more than {bar.most} were better"
    return None


def _is_behind(judged: _Judged, bar: Bar, kept: Sequence[_Judged]) -> bool:
    return bool(kept) and judged.score < bar.beside_best * kept[0].score


def _judge(demand: Demand, mean: float | None, candidate: Candidate, mode: Mode, now: datetime) -> _Judged:
    block = candidate.entry.found.block
    said = demand.said(candidate.entry)
    precise = mode is Mode.PREFETCH
    coverage = demand.share_of_block(candidate.entry, said) if precise else demand.all.covered(_told_of(block, said))
    strength, full = coverage, 1.0
    lift, near, compared = 0.0, 0.0, False
    if candidate.cosine is not None and mean is not None:
        lift, compared = candidate.cosine - mean, True
        near = nearness(lift)
        strength, full = (evidence(coverage, near), _FULL_EVIDENCE) if precise else (coverage + near, 2.0)
    recency = decay((now - block.valid_from).total_seconds() / 86_400, _HALF_LIFE_DAYS)
    # All that is told of a thing answers a question that only names it: then none is surer than another.
    trust = (
        1.0
        if demand.bare
        else (0.85 + 0.15 * recency) * (0.7 + 0.3 * block.confidence) * (1.0 if block.explicit else 0.95)
    )
    score = (strength + _GRAPH * _HOP[candidate.hop]) / (full + _GRAPH) * trust
    score = min(score * _VERDICT[candidate.entry.found.verdict], 1.0)
    agrees = not precise or demand.agrees(block.project, said)
    of_kind = demand.kind is not None and demand.kind.is_answered_by(block)
    beside = _BESIDE * demand.kind.weight if precise and demand.kind is not None and not of_kind else 0.0
    return _Judged(candidate, said, agrees, of_kind, beside, compared, strength, score, coverage, lift, near, recency)


def _told_of(block: Block, said: Said) -> Said:
    """What a block says, and the project that it says it of."""
    return said if block.project is None else said.also(frozenset(words(block.project)))


def _why(judged: _Judged, weighed: Weighed, named: Mapping[str, frozenset[UUID]]) -> str:
    reasons = []
    candidate = judged.candidate
    matched = weighed.matched(_told_of(candidate.entry.found.block, judged.said))
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
