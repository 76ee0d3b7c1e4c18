"""A scope read from Postgres: the truth, and the only way to ask what held in the past."""

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

from .indexed import hear
from .names import Names
from .passages import Heard, Sought
from .source import BY_GRAPH, BY_VECTOR, BY_WORDS, RULES, Entry


@dataclass(frozen=True, slots=True)
class ColdScope:
    """A `Source` in which each question is a transaction of its own, so that none is held while a model thinks.

    It serves one query, and holds what was read for it.
    """

    db: Database
    scope: Scope
    model: str
    as_of: datetime | None
    known_at: datetime | None = None
    _held: dict[UUID, Entry] = field(default_factory=dict)

    async def weights(self, words: Collection[str]) -> tuple[dict[str, float], int]:
        async with self.db.memory(self.scope) as conn:
            return await search.word_weights(conn, words), await search.size(conn)

    async def by_words(self, words: Collection[str]) -> list[UUID]:
        async with self.db.memory(self.scope) as conn:
            return await search.by_words(
                conn, self.scope, words, as_of=self.as_of, known_at=self.known_at, limit=BY_WORDS
            )

    async def by_vector(self, vector: Vector) -> Nearest:
        async with self.db.memory(self.scope) as conn:
            return await search.by_vector(
                conn, self.scope, vector, self.model, as_of=self.as_of, known_at=self.known_at, limit=BY_VECTOR
            )

    async def named(self, names: Collection[str], said: Collection[str]) -> list[tuple[str, UUID]]:
        async with self.db.memory(self.scope) as conn:
            known = [*await search.named(conn, self.scope, names), *await search.names_of_merged(conn, self.scope)]
            found = Names(known).find(names, said)
            spoken_of = await search.spoken_of(conn, self.scope, {entity for _, entity in found})
        return [(name, entity) for name, entity in found if entity in spoken_of]

    async def near(self, entities: Collection[UUID]) -> list[tuple[UUID, int]]:
        async with self.db.memory(self.scope) as conn:
            return await search.near(
                conn, self.scope, entities, as_of=self.as_of, known_at=self.known_at, limit=BY_GRAPH
            )

    async def entries(self, ids: Collection[UUID], vector: Vector | None) -> list[tuple[Entry, float | None]]:
        if lacking := [each for each in ids if each not in self._held]:
            async with self.db.memory(self.scope) as conn:
                self._held.update((entry.id, entry) for entry in await self._read(conn, lacking))
        found = [self._held[each] for each in ids if each in self._held]
        return [(entry, _cosine(entry.found.vector, vector)) for entry in found]

    async def rules(self) -> list[Entry]:
        async with self.db.memory(self.scope) as conn:
            ids = await brief.rules(
                conn, self.scope, as_of=self.as_of, known_at=self.known_at, explicit=True, limit=RULES
            )
            return await self._read(conn, ids)

    async def _read(self, conn: Connection, ids: Collection[UUID]) -> list[Entry]:
        found = await search.bodies(conn, self.scope, ids, self.model)
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


def _cosine(one: Vector | None, other: Vector | None) -> float | None:
    return None if one is None or other is None else float(one @ other)
