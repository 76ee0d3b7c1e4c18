"""A scope held in this process: words, vectors, names and graph, in about a millisecond and without a round trip."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from math import log
from uuid import UUID

import numpy as np

from nextlevel.inference import Vector
from nextlevel.model import BlockType
from nextlevel.store.search import Counted, Found, Head, Nearest

from .hot_rows import BlockRows, Rows
from .names import Names
from .passages import Heard, PassageIndex, Sought
from .source import BY_GRAPH, BY_VECTOR, BY_WORDS, PASSAGES, RAREST, RULES, Entry, Worded
from .vectors import VectorIndex


class HotScope:
    """A `Source` over copies, as of `generations`. Only `HotScopes` changes it: `put` and `drop`, then `settle`.

    `counted` tells what there was when it last caught up. `past` are its past turns, `past_state` the state that they
    are of; `looked_at` and `compared_at` when the past, and each single block, was last looked up (monotonic).
    Each block has a row; a block that is dropped or changed leaves its row unused, and what lists the row as it is.
    """

    def __init__(self, dimension: int, counted: Counted) -> None:
        self.generations: dict[UUID, int] = {}
        self.counted = counted
        self.past = PassageIndex(dimension)
        self.past_state = -1
        self.looked_at = self.compared_at = 0.0
        self._rows = BlockRows()
        self._entries: list[Entry] = []
        self._row: dict[UUID, int] = {}
        self._with_word: dict[str, array[int]] = defaultdict(lambda: array("i"))
        self._with_entity: dict[UUID, array[int]] = defaultdict(lambda: array("i"))
        self._rules = array("i")
        self._vectors = VectorIndex(dimension)
        self._names = Names()
        self._neighbours: dict[UUID, Counter[UUID]] = defaultdict(Counter)

    def __len__(self) -> int:
        return len(self._row)

    @property
    def wasted(self) -> int:
        """Rows of blocks that were dropped or changed."""
        return len(self._entries) - len(self._row)

    def stale(self, heads: Iterable[Head]) -> tuple[set[UUID], set[UUID]]:
        """Compare blocks with the copies of them: those to drop, and those to read anew."""
        changed = [head for head in heads if not self._is_fresh(head)]
        return (
            {head.id for head in changed if not head.active and head.id in self._row},
            {head.id for head in changed if head.active},
        )

    def beyond(self, heads: Iterable[Head]) -> set[UUID]:
        """The blocks held that are none of these."""
        return self._row.keys() - {head.id for head in heads}

    def will_hold(self, dropped: Collection[UUID], anew: Collection[UUID]) -> int:
        """How many blocks there are once some are dropped and others read anew."""
        return len(self) - len(dropped) + sum(id not in self._row for id in anew)

    def put(self, entries: Iterable[Entry]) -> None:
        """Add blocks, or take their newer state."""
        for entry in entries:
            self._remove(entry.found.block.id)
            self._add(entry)

    def drop(self, ids: Iterable[UUID]) -> None:
        for id in ids:
            self._remove(id)

    def know(self, names: Iterable[tuple[str, UUID]], *, alone: bool = False) -> None:
        """Add names of entities. `alone`: they are all there are."""
        if alone:
            self._names = Names()
        self._names.add(names)

    def lacks(self, names: Iterable[tuple[str, UUID]]) -> int:
        """How many of these names are news."""
        return self._names.lacks(names)

    def settle(self, generations: dict[UUID, int], counted: Counted) -> None:
        """Answer for this state of memory from now on."""
        self._vectors.settle()
        self.generations, self.counted = generations, counted

    async def by_words(self, words: Collection[str]) -> Worded:
        listed = self._listed(words)
        weights = {word: log(1 + len(self) / len(rows)) for word, rows in listed.items()}
        scores = np.zeros(len(self._entries))
        for word in sorted(listed, key=lambda word: (len(listed[word]), word))[:RAREST]:
            scores[listed[word]] += weights[word]
        found = self._rows.holding(np.flatnonzero(scores), datetime.now(UTC))
        return Worded(self._ids(self._rows.first(found, scores[found], BY_WORDS)), weights, len(self))

    async def by_vector(self, vector: Vector) -> Nearest:
        nearest = self._vectors.nearest(vector, BY_VECTOR)
        now = datetime.now(UTC)
        holding = [pair for pair in nearest.found if self._entries[self._row[pair[0]]].found.holds(now)]
        return Nearest(holding, nearest.mean, nearest.blocks)

    async def named(self, names: Collection[str], said: Collection[str]) -> list[tuple[str, UUID]]:
        return [(name, entity) for name, entity in self._names.find(names, said) if entity in self._with_entity]

    async def near(self, entities: Collection[UUID]) -> list[tuple[UUID, int]]:
        """Nearest and newest first, so that a second step is only taken where the first found too few."""
        seeds = set(entities)
        direct = self._newest(self._speaking_of(seeds), BY_GRAPH)
        found = [(id, 1) for id in self._ids(direct)]
        if len(found) < BY_GRAPH:
            around = set().union(*(self._neighbours.get(seed, ()) for seed in seeds)) - seeds
            beyond = np.setdiff1d(self._speaking_of(around), direct)
            found += [(id, 2) for id in self._ids(self._newest(beyond, BY_GRAPH - len(found)))]
        return found

    async def entries(self, ids: Collection[UUID], vector: Vector | None) -> list[tuple[Entry, float | None]]:
        cosines = {} if vector is None else self._vectors.cosines(ids, vector)
        return [(self._entries[self._row[id]], cosines.get(id)) for id in ids if id in self._row]

    def copies(self, ids: Iterable[UUID]) -> dict[UUID, Entry]:
        """What is held of these blocks: of those that have a vector, so that nothing more has to be read of them."""
        return {id: self._entries[self._row[id]] for id in ids if id in self._row and id in self._vectors}

    async def rules(self) -> list[Entry]:
        holding = self._rows.holding(self._rows.used(self._rules), datetime.now(UTC))
        return [self._entries[row] for row in holding[:RULES].tolist()]

    async def passages(self, sought: Sought, vector: Vector | None) -> list[Heard]:
        return self.past.find(sought, vector, limit=PASSAGES)

    def _listed(self, words: Collection[str]) -> dict[str, Rows]:
        """The rows with each of these words that some block has."""
        rows = {word: self._rows.used(self._with_word[word]) for word in words if word in self._with_word}
        return {word: found for word, found in rows.items() if len(found)}

    def _speaking_of(self, entities: Iterable[UUID]) -> Rows:
        """The rows that speak of one of these entities and hold, each once."""
        spoken = [self._rows.used(self._with_entity[entity]) for entity in entities if entity in self._with_entity]
        if not spoken:
            return np.zeros(0, dtype=np.intp)
        return self._rows.holding(np.unique(np.concatenate(spoken)), datetime.now(UTC))

    def _newest(self, rows: Rows, limit: int) -> Rows:
        return self._rows.first(rows, self._rows.since[rows], limit)

    def _ids(self, rows: Rows) -> list[UUID]:
        return [self._entries[row].found.block.id for row in rows.tolist()]

    def _is_fresh(self, head: Head) -> bool:
        row = self._row.get(head.id)
        if row is None or not head.active:
            return row is None and not head.active
        found: Found = self._entries[row].found
        return found.updated_at == head.updated_at and (head.id in self._vectors) == head.embedded

    def _add(self, entry: Entry) -> None:
        found = entry.found
        row = self._rows.add(found)
        # Its vector and its words are in the indexes now: held twice, they are half of what a block takes.
        self._entries.append(Entry(replace(found, vector=None)))
        self._row[found.block.id] = row
        if found.block.explicit or found.block.type is BlockType.USER_PREFERENCE:
            self._rules.append(row)
        for word in entry.words:
            self._with_word[word].append(row)
        for entity in found.entities:
            self._with_entity[entity].append(row)
        for subject, object_ in found.edges:
            self._neighbours[subject][object_] += 1
            self._neighbours[object_][subject] += 1
        if found.vector is not None:
            self._vectors.put(found.block.id, found.vector)

    def _remove(self, id: UUID) -> None:
        row = self._row.pop(id, None)
        if row is None:
            return
        self._rows.remove(row)
        self._vectors.remove(id)
        for subject, object_ in self._entries[row].found.edges:
            for one, other in ((subject, object_), (object_, subject)):
                self._neighbours[one][other] -= 1
                if not self._neighbours[one][other]:
                    del self._neighbours[one][other]
