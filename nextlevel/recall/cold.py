"""A scope searched in Postgres: the truth, and the only way to ask what held in the past."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from nextlevel.inference import Vector
from nextlevel.model import Scope
from nextlevel.store import brief, passages, search
from nextlevel.store.pool import Connection, Database
from nextlevel.store.search import Nearest

from .hot import HotScope
from .indexed import hear
from .names import Names
from .passages import Heard, Sought
from .source import BY_GRAPH, BY_VECTOR, BY_WORDS, RULES, Entry, Worded


@dataclass(slots=True)
class ColdScope:
    """A `Source` in which each channel is a transaction of its own, so that none is held while a model thinks.

    It serves one query. A channel reads the blocks that it finds, but for those that another has found before it, and
    those of which Postgres says that a copy in the hot scope is still true. They come with their cosines once the
    query's vector is there, until then with their vectors.
    """

    db: Database
    scope: Scope
    model: str
    as_of: datetime | None
    known_at: datetime | None = None
    hot: HotScope | None = None
    _found: set[UUID] = field(default_factory=set)
    _held: dict[UUID, Entry] = field(default_factory=dict)
    _cosines: dict[UUID, float] = field(default_factory=dict)
    _copied: set[UUID] = field(default_factory=set)
    _vector: Vector | None = None

    async def by_words(self, words: Collection[str]) -> Worded:
        async with self.db.memory(self.scope) as conn:
            weights, blocks = await search.weigh(conn, words)
            found = await search.by_words(
                conn, self.scope, words, as_of=self.as_of, known_at=self.known_at, limit=BY_WORDS
            )
            await self._hold(conn, found)
        return Worded(found, weights, blocks)

    async def by_vector(self, vector: Vector) -> Nearest:
        self._vector = vector
        async with self.db.memory(self.scope) as conn:
            nearest = await search.by_vector(
                conn, self.scope, vector, self.model, as_of=self.as_of, known_at=self.known_at, limit=BY_VECTOR
            )
            await self._hold(conn, [id for id, _ in nearest.found], vectors=False)
        self._cosines.update(nearest.found)
        return nearest

    async def named(self, names: Collection[str], said: Collection[str]) -> list[tuple[str, UUID]]:
        async with self.db.memory(self.scope) as conn:
            known = await search.spoken_of(conn, self.scope, names)
        return Names(known).find(names, said)

    async def near(self, entities: Collection[UUID]) -> list[tuple[UUID, int]]:
        async with self.db.memory(self.scope) as conn:
            around = await search.near(
                conn, self.scope, entities, as_of=self.as_of, known_at=self.known_at, limit=BY_GRAPH
            )
            await self._hold(conn, [id for id, _ in around])
        return around

    async def entries(self, ids: Collection[UUID], vector: Vector | None) -> list[tuple[Entry, float | None]]:
        """Those of the blocks found that are read by now: all, once all channels have answered."""
        found = [self._held[each] for each in ids if each in self._held]
        if vector is not None and self.hot is not None:
            copied = await self.hot.entries(self._copied - self._cosines.keys(), vector)
            self._cosines.update((entry.id, cosine) for entry, cosine in copied if cosine is not None)
        return [(entry, None if vector is None else self._cosine(entry, vector)) for entry in found]

    async def rules(self) -> list[Entry]:
        async with self.db.memory(self.scope) as conn:
            ids = await brief.rules(
                conn, self.scope, as_of=self.as_of, known_at=self.known_at, explicit=True, limit=RULES
            )
            return await self._read(conn, ids, vectors=False)

    def _cosine(self, entry: Entry, vector: Vector) -> float | None:
        found = entry.found
        known = self._cosines.get(entry.id, found.cosine)
        return float(found.vector @ vector) if known is None and found.vector is not None else known

    async def _hold(self, conn: Connection, ids: Collection[UUID], *, vectors: bool = True) -> None:
        """Read blocks, and split them into words, while other channels are still on their way."""
        lacking = [each for each in ids if each not in self._found]
        self._found.update(lacking)
        copied = await self._copies(conn, lacking)
        self._copied.update(copied)
        lacking = [each for each in lacking if each not in copied]
        read = await self._read(conn, lacking, vectors=vectors) if lacking else []
        for entry in (*copied.values(), *read):
            entry.split()
            self._held[entry.id] = entry

    async def _copies(self, conn: Connection, ids: Collection[UUID]) -> dict[UUID, Entry]:
        """Those of the blocks that the hot scope holds as they are. As known at a moment, they may have been others."""
        copies = {} if self.hot is None or self.known_at is not None else self.hot.copies(ids)
        if not copies:
            return {}
        unchanged = await search.unchanged(
            conn, self.scope, {id: entry.found.updated_at for id, entry in copies.items()}
        )
        return {id: copies[id] for id in unchanged}

    async def _read(self, conn: Connection, ids: Collection[UUID], *, vectors: bool) -> list[Entry]:
        model, beside = (self.model, self._vector) if vectors else (None, None)
        found = await search.bodies(conn, self.scope, ids, model, beside=beside)
        if self.known_at is None:
            return [Entry(each) for each in found]
        known = await search.as_known(conn, self.scope, ids, self.known_at)
        return [Entry(replace(each, block=known[each.block.id])) for each in found if each.block.id in known]

    async def passages(self, sought: Sought, vector: Vector | None) -> list[Heard]:
        """Ranked as a hot scope ranks all.

        None of what was known at a moment: a turn is what was said, and no belief.
        """
        if self.known_at is not None:
            return []
        async with self.db.memory(self.scope) as conn:
            return await hear(passages, conn, self.scope, sought, vector, self.model, self.as_of)
