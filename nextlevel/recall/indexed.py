"""What is indexed in Postgres as passages are, ranked as a hot scope ranks: past turns, and sections of documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from math import log
from typing import Protocol

from nextlevel.inference import Vector
from nextlevel.model import Scope
from nextlevel.store.passages import Nearest, Passage
from nextlevel.store.pool import Connection

from .passages import Heard, PassageIndex, Sought, Whole
from .source import PASSAGES, RAREST


class Indexed(Protocol):
    """A module of the store whose rows are searched as passages: `store.passages`, `store.library`."""

    async def size(self, conn: Connection, scope: Scope, *, as_of: datetime | None) -> int: ...

    async def count_words(self, conn: Connection, words: Collection[str]) -> dict[str, int]: ...

    async def by_words(
        self, conn: Connection, scope: Scope, weights: Mapping[str, float], *, as_of: datetime | None, limit: int
    ) -> list[str]: ...

    async def by_vector(
        self, conn: Connection, scope: Scope, vector: Vector, model: str, *, as_of: datetime | None, limit: int
    ) -> Nearest: ...

    async def beside(
        self, conn: Connection, scope: Scope, ids: Collection[str], /, *, as_of: datetime | None
    ) -> list[str]: ...

    async def read(self, conn: Connection, scope: Scope, ids: Collection[str], /, model: str) -> list[Passage]: ...


async def hear(
    indexed: Indexed,
    conn: Connection,
    scope: Scope,
    sought: Sought,
    vector: Vector | None,
    model: str,
    as_of: datetime | None,
) -> list[Heard]:
    """Candidates from both channels with what stands beside them, best first."""
    size = await indexed.size(conn, scope, as_of=as_of)
    if not size:
        return []
    counts = await indexed.count_words(conn, sought.words)
    rarest = sorted(counts, key=lambda word: (counts[word], word))[:RAREST]
    weights = {word: log(1 + size / counts[word]) for word in rarest}
    found = await indexed.by_words(conn, scope, weights, as_of=as_of, limit=PASSAGES)
    nearest = Nearest([], 0.0, 0.0)
    if vector is not None:
        nearest = await indexed.by_vector(conn, scope, vector, model, as_of=as_of, limit=PASSAGES)
    ids = dict.fromkeys([*found, *(each for each, _ in nearest.found)])
    beside = await indexed.beside(conn, scope, ids, as_of=as_of)
    read = await indexed.read(conn, scope, ids | dict.fromkeys(beside), model)
    index = PassageIndex(1 if vector is None else len(vector))
    index.put(read if vector is not None else (replace(each, vector=None) for each in read))
    whole = Whole(size, counts, nearest.mean, nearest.deviation)
    return index.find(sought, vector, limit=PASSAGES, whole=whole)
