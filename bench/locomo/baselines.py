"""Plain ways to search, over the same turns with the same vectors: BM25, dense, and both fused by rank."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from nextlevel.inference import Embedder, Vectors
from nextlevel.lang.passages import gist
from nextlevel.lang.roots import root
from nextlevel.lang.tokens import content_words
from nextlevel.ops.evaluate import retrieval
from nextlevel.ops.evaluate.retrieval import Line, Question

Ranking: TypeAlias = dict[tuple[str, int], list[str]]
"""For each question, by its conversation and number there, the ids of turns, best first."""


def said(line: Line) -> str:
    """A turn as every system gets it."""
    return f"{line.speaker}: {line.text}"


async def vectors(lines: Sequence[Line], embedder: Embedder) -> Vectors:
    return await embedder.passages([gist(said(line), "") for line in lines])


class BM25:
    """Okapi BM25 with k1 1.2 and b 0.75, over the roots of content words."""

    def __init__(self, texts: Sequence[str]) -> None:
        terms = [[root(word) for word in content_words(text)] for text in texts]
        lengths = np.array([len(each) for each in terms], dtype=float)
        self._norm = 1.2 * (0.25 + 0.75 * lengths / max(lengths.mean(), 1))
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        for place, each in enumerate(terms):
            for term, count in Counter(each).items():
                self._counts[term][place] = count

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        found = np.zeros(len(self._norm))
        for term in {root(word) for word in content_words(query)}:
            held = self._counts.get(term, {})
            idf = math.log(1 + (len(found) - len(held) + 0.5) / (len(held) + 0.5))
            for place, count in held.items():
                found[place] += idf * count * 2.2 / (count + self._norm[place])
        return found


async def baselines(lines: Sequence[Line], questions: Sequence[Question], embedder: Embedder) -> dict[str, Ranking]:
    by_conv: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_conv[line.conv].append(line)
    found: dict[str, Ranking] = {"BM25": {}, "dense": {}, "RRF": {}}
    for conv, spoken in by_conv.items():
        bm25, rows = BM25([said(line) for line in spoken]), await vectors(spoken, embedder)
        for each in (question for question in questions if question.conv == conv):
            by_words, by_vector = bm25.scores(each.question), rows @ await embedder.query(each.question)
            fused = sum(1 / (60 + np.argsort(np.argsort(-scores, kind="stable"))) for scores in (by_words, by_vector))
            for name, scores in (("BM25", by_words), ("dense", by_vector), ("RRF", fused)):
                best = np.argsort(-scores, kind="stable")[: retrieval.MOST]
                found[name][conv, each.q] = [spoken[place].dia_id for place in best]
    return found
