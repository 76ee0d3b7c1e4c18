"""What was let in, put in order by a cross-encoder, where one is named and answers in time. It drops nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from nextlevel.errors import ModelBusy, UnusableAnswer
from nextlevel.inference import Reranker
from nextlevel.log import get
from nextlevel.wire.breaker import Breaker

from .compose import Quoted
from .rank import Ranked, Ranking
from .source import sentence

log = get("recall")


class Reorder:
    """A reranker, left alone for a while after it was late or failed a few times: no recall should wait for it."""

    def __init__(self, reranker: Reranker | None) -> None:
        self._reranker = reranker
        self._breaker = Breaker()

    async def close(self) -> None:
        if self._reranker is not None:
            await self._reranker.close()

    async def order(
        self, query: str, ranking: Ranking, quoted: Sequence[Quoted], wait_s: float
    ) -> tuple[Ranking, list[Quoted]]:
        """Facts and quotes, each in the reranker's order; in their own, where it gives none within `wait_s`."""
        count = len(ranking.kept) + len(quoted)
        if self._reranker is None or count < 2 or wait_s <= 0 or not self._breaker.allows():
            return ranking, list(quoted)
        facts = [sentence(each.candidate.entry.found.block) for each in ranking.kept]
        texts = [*facts, *(each.quote.text for each in quoted)]
        try:
            async with asyncio.timeout(wait_s):
                scores = await self._reranker.scores(query, texts)
        except TimeoutError:
            self._breaker.failed(late=True)
            return ranking, list(quoted)
        except (ModelBusy, UnusableAnswer) as error:
            self._breaker.failed()
            log.warning("not_reranked", error=str(error))
            return ranking, list(quoted)
        self._breaker.succeeded()
        return replace(ranking, kept=_facts(ranking.kept, scores[: len(facts)])), _quotes(quoted, scores[len(facts) :])


def _facts(kept: Sequence[Ranked], scores: Sequence[float]) -> tuple[Ranked, ...]:
    """In the new order under the old scores: their scale is what else they are compared on."""
    given = sorted((each.score for each in kept), reverse=True)
    ordered = sorted(zip(scores, kept, strict=True), key=lambda pair: -pair[0])
    return tuple(
        replace(each, score=own, channels={**each.channels, "rerank": round(score, 3)})
        for own, (score, each) in zip(given, ordered, strict=True)
    )


def _quotes(quoted: Sequence[Quoted], scores: Sequence[float]) -> list[Quoted]:
    given = sorted((each.score for each in quoted), reverse=True)
    ordered = sorted(zip(scores, quoted, strict=True), key=lambda pair: -pair[0])
    return [replace(each, score=own, rerank=round(score, 3)) for own, (score, each) in zip(given, ordered, strict=True)]
