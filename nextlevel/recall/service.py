"""The function behind prefetch, tools, API and command line: cache, else hot scope, else Postgres, by a deadline."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from uuid import UUID

from pydantic import TypeAdapter

from nextlevel.cache import Cache, Generations, keys
from nextlevel.errors import StoreUnreachable
from nextlevel.event import base_install
from nextlevel.inference import Embedder, Vector, open_reranker
from nextlevel.lang.when import when
from nextlevel.model import Scope
from nextlevel.settings import Settings
from nextlevel.store import passages, search
from nextlevel.store.pool import Database

from . import brief, cited, overview, past, rank
from .answer import Answer, Item, Mode, Request, Rung
from .cold import ColdScope
from .compose import Quoted, Read, compose, empty, of_items, with_brief, without_session
from .demand import Demand, load
from .discussed import discussed
from .meaning import Meaning
from .passages import Heard, Sought
from .query import Query, read
from .reorder import Reorder
from .retrieve import retrieve
from .scopes import Scopes
from .source import Entry, Source
from .tasks import kinds_asked, rules_for

_PATIENT_S = 5.0  # the longest that anybody waits, deadline or not
_MARGIN_S = 0.02  # left of a deadline to rank and render, once the query's vector is there or given up
_FORMAT = TypeAdapter(Answer)


class Recall:
    """Answers questions to memory. Holds the hot scopes and the embedder of its process. Close with `close`.

    `embedder` None, or one that nobody has measured, answers by words and graph alone; `take_up` brings another.
    """

    def __init__(self, settings: Settings, db: Database, cache: Cache, embedder: Embedder | None) -> None:
        self._settings = settings
        self._db = db
        self._cache = cache
        self._meaning = Meaning(db, embedder, hot_scopes=settings.hot_scopes)
        self._reorder = Reorder(open_reranker(settings))
        self.scopes = Scopes(settings, db)
        load()

    async def close(self) -> None:
        await self._meaning.close()
        await self._reorder.close()

    async def take_up(self, embedder: Embedder | None) -> None:
        """Compare meaning by another model from the next question on; what is being answered ends by the one before."""
        before, self._meaning = self._meaning, Meaning(self._db, embedder, hot_scopes=self._settings.hot_scopes)
        await before.close()

    async def answer(self, request: Request) -> Answer:
        """What matters for a query; an empty context where nothing is known.

        Raises:
            StoreUnreachable: no answer by the deadline, or no store to ask. That is not "nothing known".
            UnknownInstallation: nobody enrolled the installation.
        """
        started = time.monotonic()
        query = read(request.query)
        if not query.asks and not request.brief:
            return replace(empty(), ms=_ms(started))
        limit_s = _PATIENT_S if request.deadline_ms is None else request.deadline_ms / 1000
        try:
            async with asyncio.timeout(limit_s):
                answer = await self._answer(query, request, started, limit_s)
        except TimeoutError as error:
            raise StoreUnreachable(f"memory gave no answer within {limit_s * 1000:.0f} ms") from error
        return replace(answer, ms=_ms(started))

    async def _answer(self, query: Query, request: Request, started: float, limit_s: float) -> Answer:
        scope = await self.scopes.get(request.install, request.profile, request.principal)
        answer = empty()
        about = overview.asked(query.text) if request.moment is None else None
        if about is not None:
            answer = await self._overview(about, request, scope)
        if query.asks and not answer.items:
            answer = await self._recalled(query, request, scope, started, limit_s)
        if request.brief:
            async with self._db.memory(scope) as conn:
                lines = await brief.compose(
                    conn, scope, project=request.project, session=request.session or "", now=datetime.now(UTC)
                )
            answer = with_brief(answer, lines, request.budget_tokens + brief.MOST_TOKENS)
        if request.warm and request.session is not None:
            await self._warm(request, answer)
        return answer

    async def _overview(self, about: overview.About, request: Request, scope: Scope) -> Answer:
        async with self._db.memory(scope) as conn:
            found = await overview.items(conn, scope, about, request.project, now=datetime.now(UTC))
            return replace(of_items(found, request.budget_tokens), generation=await search.generations(conn, scope))

    async def _recalled(self, query: Query, request: Request, scope: Scope, started: float, limit_s: float) -> Answer:
        """What was found for a query, from the cache or made now."""
        meaning = self._meaning
        budget, most, project = str(request.budget_tokens), str(request.most), request.project or ""
        question = (query.text, request.mode, budget, most, project, meaning.model)
        kept = None
        if _is_kept(request):
            state, kept = await self._cache.look(
                scope.readable,
                lambda: self._truth(scope),
                lambda state: keys.context(state.run or "", scope.profile_scope, state.numbers, question),
            )
        elif request.moment is None:
            state = await self._cache.generations(scope.readable, lambda: self._truth(scope))
        else:  # asked of Postgres alone
            state = Generations(None, await self._truth(scope))
        if kept is not None:
            answer = replace(_answer_of(kept), rung=Rung.CACHE)
        else:
            patient = request.deadline_ms is None
            memory = sorted(state.numbers.items())
            asking = request.session if request.mode is Mode.SEARCH else None  # a prefetch leaves it out afterwards
            flight = repr((scope.readable, memory, question, request.as_of, request.known_at, patient, asking))
            answer = await self._cache.once(
                flight,
                lambda: self._fresh(query, request, scope, meaning, state, question, started + limit_s - _MARGIN_S),
            )
        if request.mode is Mode.PREFETCH:
            answer = without_session(answer, request.session, request.budget_tokens)
        return answer

    async def _fresh(
        self,
        query: Query,
        request: Request,
        scope: Scope,
        meaning: Meaning,
        state: Generations,
        question: tuple[str, ...],
        until: float,
    ) -> Answer:
        """Read, judge and render; keep the answer under the generations that it was read from.

        `until`, on the monotonic clock, is when to stop waiting for what makes it better.
        """
        now = request.moment or datetime.now(UTC)
        sought = Sought.of(query, when(query.text, now.date()), past.aside_words(query.text))
        wait_s = until - time.monotonic()
        if request.deadline_ms is not None:
            usual_ms, whole_ms = self._settings.embed_deadline_ms, self._settings.recall_deadline_ms
            # Who gives more time than usual gives the vector as much more.
            wait_s = min(max(usual_ms, usual_ms * request.deadline_ms / whole_ms) / 1000, wait_s)
        vector = asyncio.ensure_future(meaning.vector(query.text, wait_s))
        try:
            source, rung, generations = await self._source(scope, meaning, state, request)
            found, documents = await asyncio.gather(
                retrieve(query, sought, source, vector, meaning.measures),
                self._library(request, scope, sought, vector, meaning),
            )
        finally:
            vector.cancel()
        search_for = request.most if request.mode is Mode.SEARCH else None
        demand = Demand.of(query, found, sought.asides)
        ranking = rank.rank(query, found, mode=request.mode, now=now, most=search_for, demand=demand)
        # A question whose vector did not come has no time left to look for better.
        in_time = time.monotonic() < until or not _is_uninvited(query, request)
        quoted = await self._quote(query, request, scope, found.heard, demand, ranking.evidence) if in_time else []
        if quoted and _is_uninvited(query, request):
            ranking = rank.behind(ranking, "a past turn says more of it")
        ranking, quoted = await self._reorder.order(query.text, ranking, quoted, until - time.monotonic())
        read = Read(
            rung,
            generations,
            vectors=found.mean_cosine is not None,
            evident=past.evident(found.heard),
            misplaced=past.misplaced(found.heard, sought.names),
        )
        rules = await self._rules(query, request, source)
        answer = compose(ranking, rules, quoted, documents, request, read, now=datetime.now(UTC))
        if request.mode is Mode.SEARCH and past.asks_what_was_said(query.text):
            async with self._db.memory(scope) as conn:
                answer = replace(
                    answer,
                    sessions=await discussed(conn, scope, found.heard, sought, asking=request.session, now=now),
                )
        if _is_kept(request) and state.run is not None and (read.vectors or meaning.measures is None):
            key = keys.context(state.run, scope.profile_scope, generations, question)
            await self._cache.put(key, _FORMAT.dump_json(answer))
        return answer

    async def _library(
        self, request: Request, scope: Scope, sought: Sought, vector: Awaitable[Vector | None], meaning: Meaning
    ) -> list[Item]:
        """Documents, for who asked for them: no prefetch gives any, and what was known at a moment is no document."""
        if request.mode is Mode.PREFETCH or request.known_at is not None:
            return []
        row = None if meaning.measures is None else await vector
        return await cited.find(self._db, scope, sought, row, meaning.model, meaning.measures, request.as_of)

    async def _quote(
        self, query: Query, request: Request, scope: Scope, heard: Sequence[Heard], demand: Demand, shown: float
    ) -> list[Quoted]:
        """The past turns that are worth a line, with what is quoted of them: read now, so that none is forgotten."""
        uninvited = _is_uninvited(query, request)
        chosen = past.worth_reading(heard) if uninvited else past.worth_showing(heard, request.mode, most=request.most)
        if not chosen:
            return []
        async with self._db.memory(scope) as conn:
            said = await passages.said(conn, scope, [each.passage.turn_id for each in chosen])
        usable = [each for each in chosen if past.usable(said, each, request.mode)]
        if uninvited:
            usable = past.telling([(each, said[each.passage.turn_id]) for each in usable], demand, shown)
        quoted = [
            Quoted(each, past.quote(said[each.passage.turn_id], each.matched), score)
            for each, score in zip(usable, past.scores(usable), strict=True)
        ]
        return [
            each for each in quoted if not past.gives_orders(each.quote) and not (uninvited and each.quote.by_assistant)
        ]

    async def _rules(self, query: Query, request: Request, source: Source) -> list[Entry]:
        """The standing rules for what is to be done; a search asks for facts, and nothing is to be done."""
        if request.mode is Mode.SEARCH or not kinds_asked(query.text):
            return []
        return rules_for(query.text, await source.rules(), request.project)

    async def _source(
        self, scope: Scope, meaning: Meaning, state: Generations, request: Request
    ) -> tuple[Source, Rung, dict[UUID, int]]:
        """Where to read, and the state of memory that is read there."""
        held = meaning.hot.held(scope)
        cold = ColdScope(self._db, scope, meaning.model, request.moment, request.known_at, held)
        if request.moment is not None:
            return cold, Rung.SQL, state.numbers
        hot = await meaning.hot.get(scope, state.numbers)
        if hot is not None:
            return hot, Rung.HOT, hot.generations
        # Read before the data, so that they can only be newer; a copy in Redis may be ahead of what is committed.
        return cold, Rung.SQL, await self._truth(scope)

    async def _truth(self, scope: Scope) -> dict[UUID, int]:
        async with self._db.memory(scope) as conn:
            return await search.generations(conn, scope)

    async def _warm(self, request: Request, answer: Answer) -> None:
        key = keys.warm(base_install(request.install), request.profile, request.principal, request.session or "")
        await self._cache.put_warm(key, answer.context, answer.generation)


def _is_uninvited(query: Query, request: Request) -> bool:
    """True where past turns are not asked for: one joins only if it says more than any fact."""
    return request.mode is Mode.PREFETCH and not past.asks_what_was_said(query.text)


def _is_kept(request: Request) -> bool:
    """A prefetch is asked again and again; a search is asked seldom, and for the newest."""
    return request.moment is None and request.mode is Mode.PREFETCH


@lru_cache(maxsize=256)
def _answer_of(kept: bytes) -> Answer:
    """A kept answer, read; who asks the same again within minutes does so often."""
    return _FORMAT.validate_json(kept)


def _ms(started: float) -> float:
    return round((time.monotonic() - started) * 1000, 2)
