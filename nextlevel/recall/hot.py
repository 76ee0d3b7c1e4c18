"""A scope held in this process: words, vectors, names and graph, in about a millisecond and without a round trip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from math import log
from uuid import UUID

from nextlevel.inference import Vector
from nextlevel.model import BlockType
from nextlevel.store.search import Found, Head, Nearest

from .passages import Heard, PassageIndex, Sought
from .source import BY_GRAPH, BY_VECTOR, BY_WORDS, PASSAGES, RAREST, RULES, Entry
from .vectors import VectorIndex


class HotScope:
    """A `Source` over copies, as of `generations`. Only `HotScopes` changes it: `put` and `drop`, then `settle`.

    `past` are its past turns, `past_state` the state that they are of, `looked_at` when that was looked up (monotonic).
    """

    def __init__(self, dimension: int) -> None:
        self.generations: dict[UUID, int] = {}
        self.past = PassageIndex(dimension)
        self.past_state = -1
        self.looked_at = 0.0
        self._entries: dict[UUID, Entry] = {}
        self._with_word: dict[str, set[UUID]] = defaultdict(set)
        self._with_entity: dict[UUID, set[UUID]] = defaultdict(set)
        self._rules: dict[UUID, None] = {}
        self._vectors = VectorIndex(dimension)
        self._names: dict[str, list[UUID]] = {}
        self._neighbours: dict[UUID, set[UUID]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def stale(self, heads: Iterable[Head]) -> tuple[set[UUID], set[UUID]]:
        """Compare with what there should be: the blocks to drop, and those to read anew."""
        wanted = {head.id: head for head in heads}
        anew = {id for id, head in wanted.items() if not self._is_fresh(head)}
        return self._entries.keys() - wanted.keys(), anew

    def put(self, entries: Iterable[Entry]) -> None:
        """Add blocks, or take their newer state."""
        for entry in entries:
            self._remove(entry.found.block.id)
            self._add(entry)

    def drop(self, ids: Iterable[UUID]) -> None:
        for id in ids:
            self._remove(id)

    def settle(
        self, names: Iterable[tuple[str, UUID]], edges: Iterable[tuple[UUID, UUID]], generations: dict[UUID, int]
    ) -> None:
        """Take the names and the graph of the same state of memory, and answer for it from now on."""
        self._vectors.settle()
        self._names = defaultdict(list)
        for name, entity in names:
            self._names[name].append(entity)
        self._neighbours = defaultdict(set)
        for subject, object_ in edges:
            self._neighbours[subject].add(object_)
            self._neighbours[object_].add(subject)
        self.generations = generations

    async def weights(self, words: Collection[str]) -> tuple[dict[str, float], int]:
        held = {word: len(self._with_word[word]) for word in words if word in self._with_word}
        return {word: log(1 + len(self._entries) / count) for word, count in held.items()}, len(self._entries)

    async def by_words(self, words: Collection[str]) -> list[UUID]:
        weights, _ = await self.weights(words)
        scores: dict[UUID, float] = defaultdict(float)
        for word in sorted(weights, key=lambda word: (-weights[word], word))[:RAREST]:
            for id in self._with_word[word]:
                scores[id] += weights[word]
        return self._holding(sorted(scores, key=lambda id: (-scores[id], id)), BY_WORDS)

    async def by_vector(self, vector: Vector) -> Nearest:
        nearest = self._vectors.nearest(vector, BY_VECTOR)
        holding = set(self._holding([id for id, _ in nearest.found], BY_VECTOR))
        return Nearest([pair for pair in nearest.found if pair[0] in holding], nearest.mean, nearest.blocks)

    async def named(self, names: Collection[str]) -> list[tuple[str, UUID]]:
        return [(name, entity) for name in names for entity in self._names.get(name, ())]

    async def near(self, entities: Collection[UUID]) -> list[tuple[UUID, int]]:
        seeds = set(entities)
        around = set().union(*(self._neighbours.get(seed, set()) for seed in seeds)) - seeds
        hops: dict[UUID, int] = {}
        for hop, reached in ((1, seeds), (2, around)):
            for entity in reached:
                for id in self._with_entity.get(entity, ()):
                    hops.setdefault(id, hop)
        newest_first = sorted(
            hops, key=lambda id: (hops[id], -self._entries[id].found.block.valid_from.timestamp(), id)
        )
        return [(id, hops[id]) for id in self._holding(newest_first, BY_GRAPH)]

    async def entries(self, ids: Collection[UUID]) -> list[Entry]:
        return [self._entries[id] for id in ids if id in self._entries]

    async def rules(self) -> list[Entry]:
        return [self._entries[id] for id in self._holding(self._rules, RULES)]

    async def passages(self, sought: Sought, vector: Vector | None) -> list[Heard]:
        return self.past.find(sought, vector, limit=PASSAGES)

    def _holding(self, ids: Iterable[UUID], limit: int) -> list[UUID]:
        """The first so many that still hold: what ends by itself raises no generation."""
        now = datetime.now(UTC)
        holding = (id for id in ids if self._entries[id].found.holds(now))
        return [id for id, _ in zip(holding, range(limit), strict=False)]

    def _is_fresh(self, head: Head) -> bool:
        entry = self._entries.get(head.id)
        if entry is None:
            return False
        found: Found = entry.found
        return found.updated_at == head.updated_at and (found.vector is not None) == head.embedded

    def _add(self, entry: Entry) -> None:
        found = entry.found
        self._entries[found.block.id] = entry
        if found.block.type is BlockType.USER_PREFERENCE:
            self._rules[found.block.id] = None
        for word in entry.words:
            self._with_word[word].add(found.block.id)
        for entity in found.entities:
            self._with_entity[entity].add(found.block.id)
        if found.vector is not None:
            self._vectors.put(found.block.id, found.vector)

    def _remove(self, id: UUID) -> None:
        entry = self._entries.pop(id, None)
        if entry is None:
            return
        self._rules.pop(id, None)
        for word in entry.words:
            self._with_word[word].discard(id)
            if not self._with_word[word]:
                del self._with_word[word]
        for entity in entry.found.entities:
            self._with_entity[entity].discard(id)
            if not self._with_entity[entity]:
                del self._with_entity[entity]
        self._vectors.remove(id)
