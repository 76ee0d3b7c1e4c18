"""Which scopes are hot: built behind the first question, advanced when memory has moved on, least used out first."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import OrderedDict
from datetime import timedelta
from uuid import UUID

from nextlevel.errors import Transient
from nextlevel.log import get
from nextlevel.model import Scope
from nextlevel.store import passages, search
from nextlevel.store.pool import Connection, Database
from nextlevel.store.search import Counted

from .hot import HotScope
from .passages import PassageIndex
from .source import Entry

MOST_BLOCKS = 150_000
"""A scope with more stays in Postgres: a block takes 3.4 KB, of which its vector 0.8."""

MOST_HELD = 400_000
"""Blocks in all hot scopes together: 1.4 GB."""

ADVANCE_S = 0.02
"""How long a recall waits for its scope to catch up; Postgres answers a small scope in that time."""

MOST_PASSAGES = 20_000
"""Past turns that a hot scope holds, the newest; each takes 1.2 KB. A search as of a moment goes past it."""

LOOK_S = 5.0
"""How old a hot scope's past turns may be: they come behind the pipeline, and no generation tells of them."""

COMPARE_S = 300.0
"""After so long a hot scope is compared block by block, whatever was told of changes."""

_OVERLAP = timedelta(seconds=60)  # a change has the time at which its transaction began, and is seen when it ends
_BATCH = 200  # blocks read at a time
_SLICE = 20  # blocks split into words at a time: about 1 ms, in which no recall runs

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

    def held(self, scope: Scope) -> HotScope | None:
        """What is held of the scope, of now or of before: for who asks Postgres which of it is still true."""
        return self._scopes.get(scope.readable)

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
            hot = held
            if held is None or held.generations != generations:
                hot = await self._of_now(conn, scope, held, generations)
            if hot is not None:
                await self._advance_past(conn, scope, hot)
        if hot is None:
            self._scopes.pop(scope.readable, None)
            return
        hot.looked_at = looked_at
        self._scopes[scope.readable] = hot
        while len(self._scopes) > self._most or sum(map(len, self._scopes.values())) > MOST_HELD:
            self._scopes.popitem(last=False)

    async def _of_now(
        self, conn: Connection, scope: Scope, held: HotScope | None, generations: dict[UUID, int]
    ) -> HotScope | None:
        """The scope of now: the one in use, where little has changed, or a new one. None where it is too large."""
        counted = await search.counted(conn, scope)
        if counted.blocks > MOST_BLOCKS:
            return None
        if held is not None and held.wasted <= len(held):
            for whole in (False, True):
                if await self._catch_up(conn, scope, held, generations, counted, whole=whole):
                    return held
        hot = await self._build(conn, scope, generations, counted)
        if held is not None:
            hot.past, hot.past_state = held.past, held.past_state
        return hot

    async def _catch_up(
        self,
        conn: Connection,
        scope: Scope,
        held: HotScope,
        generations: dict[UUID, int],
        counted: Counted,
        *,
        whole: bool,
    ) -> bool:
        """Take up what changed since, or compare block by block. False: too much did, or what there is adds up to less.

        What is forgotten leaves no row that says so. Everything is read before anything is changed: no question falls
        between a fact and the one that replaced it.
        """
        if whole:
            heads = await search.heads(conn, scope, self._model)
            dropped, anew = held.stale(heads)
            dropped |= held.beyond(heads)
        elif time.monotonic() - held.compared_at < COMPARE_S:
            dropped, anew = held.stale(await search.changed(conn, scope, self._model, held.counted.at - _OVERLAP))
        else:
            return False
        if len(anew) > _BATCH or held.will_hold(dropped, anew) != counted.blocks:
            return False
        found = await search.bodies(conn, scope, anew, self._model, edges=True)
        spoken = None if whole else frozenset().union(*(each.entities for each in found))
        names = await search.aliases(conn, scope, spoken)
        same_names = (held.counted.revision, held.counted.aliases + held.lacks(names)) == (
            counted.revision,
            counted.aliases,
        )
        if len(found) < len(anew) or not (whole or same_names):
            return False
        held.drop(dropped)
        held.put(Entry(each) for each in found)
        held.know(names, alone=whole)
        held.settle(generations, counted)
        if whole:
            held.compared_at = time.monotonic()
        return True

    async def _build(self, conn: Connection, scope: Scope, generations: dict[UUID, int], counted: Counted) -> HotScope:
        """A new scope, filled in slices, between which others are answered."""
        hot = HotScope(self._dimension, counted)
        hot.compared_at = time.monotonic()
        wanted = sorted(head.id for head in await search.heads(conn, scope, self._model))
        hot.know(await search.aliases(conn, scope))
        for start in range(0, len(wanted), _BATCH):
            found = await search.bodies(conn, scope, wanted[start : start + _BATCH], self._model, edges=True)
            for first in range(0, len(found), _SLICE):
                hot.put(Entry(each) for each in found[first : first + _SLICE])
                await asyncio.sleep(0)
            # Held for long, free of cycles: else the collector looks through 10,000 blocks for 130 ms, over and over.
            gc.freeze()
        hot.settle(generations, counted)
        return hot

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


def _reaches(hot: HotScope, generations: dict[UUID, int]) -> bool:
    return all(hot.generations.get(scope, 0) >= number for scope, number in generations.items())
