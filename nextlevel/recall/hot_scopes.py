"""Which scopes are hot: built behind the first question, advanced when memory has moved on, least used out first."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from uuid import UUID

from nextlevel.errors import Transient
from nextlevel.log import get
from nextlevel.model import Scope
from nextlevel.store import passages, search
from nextlevel.store.pool import Connection, Database
from nextlevel.store.search import Head

from .hot import HotScope
from .passages import PassageIndex
from .source import Entry

MOST_BLOCKS = 50_000
"""A scope with more stays in Postgres: as vectors, 50,000 blocks take 77 MB."""

ADVANCE_S = 0.02
"""How long a recall waits for its scope to catch up; Postgres answers a small scope in that time."""

MOST_PASSAGES = 20_000
"""Past turns that a hot scope holds, the newest; each takes 1.2 KB. A search as of a moment goes past it."""

LOOK_S = 5.0
"""How old a hot scope's past turns may be: they come behind the pipeline, and no generation tells of them."""

_BATCH = 200  # blocks read and split into words at a time: about 10 ms, in which no recall runs

log = get("recall")


class HotScopes:
    """The hot scopes of this process, at most `most` of them. Close with `close`."""

    def __init__(self, db: Database, *, model: str, dimension: int, most: int) -> None:
        self._db = db
        self._model = model
        self._dimension = dimension
        self._most = most
        self._scopes: OrderedDict[tuple[UUID, UUID], HotScope] = OrderedDict()
        self._moving: dict[tuple[UUID, UUID], asyncio.Task[None]] = {}

    async def close(self) -> None:
        tasks = list(self._moving.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def get(self, scope: Scope, generations: dict[UUID, int]) -> HotScope | None:
        """The scope as of `generations` or later. None: it is being built or catching up, so Postgres has to answer."""
        hot = self._scopes.get(scope.readable)
        if hot is not None:
            self._scopes.move_to_end(scope.readable)
            if _reaches(hot, generations):
                if time.monotonic() - hot.looked_at > LOOK_S:
                    self._begin(scope, hot)
                return hot
        moving = self._begin(scope, hot)
        if hot is None:
            return None
        await asyncio.wait({moving}, timeout=ADVANCE_S)
        hot = self._scopes.get(scope.readable)
        return hot if hot is not None and _reaches(hot, generations) else None

    def _begin(self, scope: Scope, hot: HotScope | None) -> asyncio.Task[None]:
        """Build a scope or let it catch up, unless that is being done."""
        moving = self._moving.get(scope.readable)
        if moving is None:
            moving = asyncio.create_task(self._move(scope, hot))
            self._moving[scope.readable] = moving
            moving.add_done_callback(lambda _: self._moving.pop(scope.readable, None))
        return moving

    async def _move(self, scope: Scope, hot: HotScope | None) -> None:
        try:
            await self._advance(scope, hot)
        except Transient as error:
            log.warning("hot_scope_not_moved", scope=str(scope.profile_scope), error=str(error))

    async def _advance(self, scope: Scope, held: HotScope | None) -> None:
        """Read what differs. The generation is read first: what comes after it can only be newer."""
        looked_at = time.monotonic()
        async with self._db.memory(scope) as conn:
            generations = await search.generations(conn, scope)
            if held is not None and held.generations == generations:
                await self._advance_past(conn, scope, held)
                held.looked_at = looked_at
                return
            heads = await search.heads(conn, scope, self._model)
            if len(heads) > MOST_BLOCKS:
                self._scopes.pop(scope.readable, None)
                return
            names = await search.aliases(conn, scope)
            edges = await search.edges(conn, scope)
            hot, dropped, anew = self._start(held, heads)
            for start in range(0, len(anew), _BATCH):
                # One batch is the whole change of a scope in use: no question falls between it and `settle`.
                batch = anew[start : start + _BATCH]
                found = await search.bodies(conn, scope, batch, self._model)
                hot.put(Entry(each) for each in found)
                dropped |= set(batch) - {each.block.id for each in found}  # forgotten between the two reads
            if held is not None and hot is not held:
                hot.past, hot.past_state = held.past, held.past_state
            await self._advance_past(conn, scope, hot)
        hot.drop(dropped)
        hot.settle(names, edges, generations)
        hot.looked_at = looked_at
        self._scopes[scope.readable] = hot
        while len(self._scopes) > self._most:
            self._scopes.popitem(last=False)

    async def _advance_past(self, conn: Connection, scope: Scope, hot: HotScope) -> None:
        """Let a scope's past turns catch up. A new index replaces one of which half is gone."""
        state = await passages.state(conn, scope)
        if state == hot.past_state:
            return
        heads = await passages.heads(conn, scope, self._model, limit=MOST_PASSAGES)
        past = hot.past if hot.past.wasted <= len(hot.past) else PassageIndex(self._dimension)
        dropped, anew = past.stale(heads)
        past.drop(dropped)
        for start in range(0, len(anew), _BATCH):
            past.put(await passages.read(conn, scope, anew[start : start + _BATCH], self._model))
        past.settle()
        hot.past, hot.past_state = past, state

    def _start(self, held: HotScope | None, heads: list[Head]) -> tuple[HotScope, set[UUID], list[UUID]]:
        """What to fill, what it has too much, what it lacks: the scope in use, or a new one where much has changed."""
        if held is not None and held.wasted <= len(held):
            dropped, anew = held.stale(heads)
            if len(anew) <= _BATCH:
                return held, dropped, sorted(anew)
        return HotScope(self._dimension), set(), sorted(head.id for head in heads)


def _reaches(hot: HotScope, generations: dict[UUID, int]) -> bool:
    return all(hot.generations.get(scope, 0) >= number for scope, number in generations.items())
