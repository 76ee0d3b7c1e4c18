"""The function behind prefetch, tools, API and command line: cache, else hot scope, else Postgres, by a deadline."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from pydantic import TypeAdapter

from nextlevel.cache import Cache, Generations, keys
from nextlevel.errors import EmbedderUnavailable, StoreUnreachable
from nextlevel.event import base_install
from nextlevel.inference import Embedder, Vector
from nextlevel.log import get
from nextlevel.model import Scope
from nextlevel.settings import Settings
from nextlevel.store import search
from nextlevel.store.pool import Database

from . import rank, render
from .answer import Answer, Dropped, Item, Request, Rung
from .cold import ColdScope
from .hot_scopes import HotScopes
from .query import Query, read
from .retrieve import retrieve
from .scopes import Scopes
from .source import Source

_PATIENT_S = 5.0  # the longest that anybody waits, deadline or not
_MARGIN_S = 0.01  # left of a deadline to rank and render, once the query's vector is there or given up
_KEPT_VECTORS = 2_048

_FORMAT = TypeAdapter(Answer)

log = get("recall")


class Recall:
    """Answers questions to memory. Holds the hot scopes and the embedder of its process. Close with `close`.

    `embedder` None answers by words and graph alone.
    """

    def __init__(self, settings: Settings, db: Database, cache: Cache, embedder: Embedder | None) -> None:
        self._settings = settings
        self._db = db
        self._cache = cache
        self._embedder = embedder
        self._model = "" if embedder is None else embedder.model
        self.scopes = Scopes(settings, db)
        self._hot = HotScopes(
            db,
            model=self._model,
            dimension=1 if embedder is None else embedder.dimension,
            most=settings.hot_scopes,
        )
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    async def close(self) -> None:
        await self._hot.close()

    async def answer(self, request: Request) -> Answer:
        """What matters for a query; an empty context where nothing is known.

        Raises:
            StoreUnreachable: no answer by the deadline, or no store to ask. That is not "nothing known".
            UnknownInstallation: nobody enrolled the installation.
        """
        started = time.monotonic()
        query = read(request.query)
        if not query.asks:
            return Answer("", (), (), Rung.IDLE, {}, _ms(started), abstained=True, vectors=False)
        limit_s = _PATIENT_S if request.deadline_ms is None else request.deadline_ms / 1000
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._answer(query, request, started, limit_s)
        except TimeoutError as error:
            raise StoreUnreachable(f"memory gave no answer within {limit_s * 1000:.0f} ms") from error
        return replace(answer, ms=_ms(started))

    async def _answer(self, query: Query, request: Request, started: float, limit_s: float) -> Answer:
        scope = await self.scopes.get(request.install, request.profile, request.principal)
        state = await self._cache.generations(scope.readable, lambda: self._truth(scope))
        question = (query.text, request.mode, str(request.budget_tokens), self._model)
        kept = None
        if request.as_of is None and state.run is not None:
            kept = await self._cache.get(keys.context(state.run, scope.profile_scope, state.numbers, question))
        if kept is not None:
            answer = replace(_FORMAT.validate_json(kept), rung=Rung.CACHE)
        else:
            wait_s = min(self._settings.embed_deadline_ms / 1000, limit_s - (time.monotonic() - started) - _MARGIN_S)
            patient = request.deadline_ms is None
            memory = sorted(state.numbers.items())
            flight = repr((scope.readable, memory, question, request.as_of, patient))
            answer = await self._cache.once(
                flight, lambda: self._fresh(query, request, scope, state, question, _PATIENT_S if patient else wait_s)
            )
        if request.warm and request.session is not None:
            await self._warm(request, answer)
        return answer

    async def _fresh(
        self,
        query: Query,
        request: Request,
        scope: Scope,
        state: Generations,
        question: tuple[str, ...],
        wait_s: float,
    ) -> Answer:
        """Read, judge and render; keep the answer under the generations that it was read from."""
        vector = asyncio.ensure_future(self._vector(query.text, wait_s))
        try:
            source, rung, generations = await self._source(scope, state, request.as_of)
            found = await retrieve(query, source, vector)
        finally:
            vector.cancel()
        now = datetime.now(UTC)
        ranking = rank.rank(query, found, mode=request.mode, now=request.as_of or now)
        answer = _rendered(ranking, request, rung, generations, now=now, vectors=found.mean_cosine is not None)
        # An answer without its vectors is what this moment had; the next one may have better.
        whole = answer.vectors or self._embedder is None
        if request.as_of is None and state.run is not None and whole:
            key = keys.context(state.run, scope.profile_scope, generations, question)
            await self._cache.put(key, _FORMAT.dump_json(answer))
        return answer

    async def _source(
        self, scope: Scope, state: Generations, as_of: datetime | None
    ) -> tuple[Source, Rung, dict[UUID, int]]:
        """Where to read, and the state of memory that is read there."""
        if as_of is None:
            hot = await self._hot.get(scope, state.numbers)
            if hot is not None:
                return hot, Rung.HOT, hot.generations
        # Read before the data, so that they can only be newer; a copy in Redis may be ahead of what is committed.
        return ColdScope(self._db, scope, self._model, as_of), Rung.SQL, await self._truth(scope)

    async def _truth(self, scope: Scope) -> dict[UUID, int]:
        async with self._db.memory(scope) as conn:
            return await search.generations(conn, scope)

    async def _vector(self, text: str, wait_s: float) -> Vector | None:
        """The query's vector, or None if it can't be had in time."""
        if self._embedder is None:
            return None
        known = self._vectors.get(text)
        if known is not None:
            self._vectors.move_to_end(text)
            return known
        try:
            async with asyncio.timeout(max(wait_s, 0)):
                vector = await self._embedder.query(text)
        except TimeoutError:
            return None
        except EmbedderUnavailable as error:
            log.warning("no_query_vector", error=str(error))
            return None
        self._vectors[text] = vector
        if len(self._vectors) > _KEPT_VECTORS:
            self._vectors.popitem(last=False)
        return vector

    async def _warm(self, request: Request, answer: Answer) -> None:
        key = keys.warm(base_install(request.install), request.profile, request.principal, request.session or "")
        await self._cache.put_warm(key, answer.context, answer.generation)


def _rendered(
    ranking: rank.Ranking,
    request: Request,
    rung: Rung,
    generations: dict[UUID, int],
    *,
    now: datetime,
    vectors: bool,
) -> Answer:
    lines = [render.line(each.candidate.entry.found.block, now=now, as_of=request.as_of) for each in ranking.kept]
    context, taken = render.context(lines, request.budget_tokens)
    items: list[Item] = []
    dropped: list[Dropped] = []
    for text, each in zip(lines, ranking.kept, strict=True):
        if text in taken:
            taken.remove(text)
            items.append(Item(each.candidate.entry.found.block, text, each.score, each.channels, each.why))
        else:
            dropped.append(Dropped(text, f"said already, or beyond {request.budget_tokens} tokens"))
    for each in ranking.dropped:
        block = each.candidate.entry.found.block
        dropped.append(Dropped(render.line(block, now=now, as_of=request.as_of), each.why))
    return Answer(
        context=context,
        items=tuple(items),
        dropped=tuple(dropped),
        rung=rung,
        generation=generations,
        ms=0.0,
        abstained=not items,
        vectors=vectors,
    )


def _ms(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 2)
