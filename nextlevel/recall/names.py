"""Which names lead to which entities, as a query may say them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from uuid import UUID

from nextlevel.lang.tokens import words


class Names:
    """Grows by `add`; what goes, or comes to mean another, needs a new one.

    An entity into which another was merged has several names, and is found by each word of any: what its blocks said
    before they were renamed is asked for still.
    """

    def __init__(self, pairs: Iterable[tuple[str, UUID]] = ()) -> None:
        self._bearers: dict[str, set[UUID]] = defaultdict(set)
        self._names: dict[UUID, set[str]] = defaultdict(set)
        self._in_part: dict[str, set[tuple[str, UUID]]] = defaultdict(set)
        self.add(pairs)

    def add(self, pairs: Iterable[tuple[str, UUID]]) -> None:
        for name, entity in pairs:
            self._bearers[name].add(entity)
            own = self._names[entity]
            own.add(name)
            if len(own) > 1:
                for each in own:
                    for word in words(each):
                        self._in_part[word].add((each, entity))

    def lacks(self, pairs: Iterable[tuple[str, UUID]]) -> int:
        """How many of these are news."""
        return sum(entity not in self._bearers.get(name, ()) for name, entity in pairs)

    def find(self, names: Collection[str], said: Collection[str]) -> list[tuple[str, UUID]]:
        """The bearers of these names, and those of several names of which a word is said, each with that name."""
        whole = [(name, entity) for name in names for entity in self._bearers.get(name, ())]
        in_part = [pair for word in said for pair in sorted(self._in_part.get(word, ()))]
        return list(dict.fromkeys([*whole, *in_part]))
