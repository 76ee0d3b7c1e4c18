"""Table embedder, and vectors by numbers: which model's are compared, how many there are, how many wait.

All of it runs inside `Database.pipeline`, but for `add` and `drop_old`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nextlevel.model import Scope

from .pool import Connection
from .scopes import wall_of
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Active:
    """The model whose vectors are compared, its dimension, and how its cosines lie (`inference.Measures`)."""

    model: str
    dimension: int
    usual: float
    times: float


@dataclass(frozen=True, slots=True)
class Counted:
    """Blocks, passages and sections of documents, and how many of them wait for a vector of some model."""

    blocks: int
    blocks_waiting: int
    passages: int
    passages_waiting: int
    sections: int
    sections_waiting: int

    @property
    def all(self) -> int:
        return self.blocks + self.passages + self.sections

    @property
    def waiting(self) -> int:
        return self.blocks_waiting + self.passages_waiting + self.sections_waiting


async def active(conn: Connection) -> Active | None:
    """The model in use; None: nothing was ever embedded."""
    row = await conn.fetchrow(SQL.vectors.active)
    return None if row is None else Active(**row)


async def claim(conn: Connection, first: Active) -> Active:
    """Use a model, unless one is in use already; the one that is."""
    await conn.execute(SQL.vectors.claim, first.model, first.dimension, first.usual, first.times)
    row = await conn.fetchrow(SQL.vectors.active)
    return first if row is None else Active(**row)


async def switch(conn: Connection, to: Active) -> None:
    """Compare another model's vectors from this commit on."""
    await conn.execute(SQL.vectors.switch, to.model, to.dimension, to.usual, to.times)


async def count(conn: Connection, model: str) -> Counted:
    (row,) = await conn.fetch(SQL.vectors.count, model)
    return Counted(**row)


async def add(conn: Connection, scope: Scope, model: str, vectors: Mapping[UUID, Any]) -> None:
    """Keep unit vectors of blocks; one that was forgotten meanwhile gets none (inside `Database.memory(scope)`)."""
    rows = [(scope.tenant_id, block_id, model, vector) for block_id, vector in vectors.items()]
    await conn.executemany(SQL.vectors.add, rows)


async def scopes_with_old(conn: Connection) -> list[Scope]:
    """Walls behind which vectors lie of models that are not in use, each around one scope."""
    rows = await conn.fetch(SQL.vectors.scopes_with_old)
    return [wall_of(row) for row in rows]


async def drop_old(conn: Connection, scope: Scope) -> int:
    """Remove what the model in use did not make (inside `Database.memory(scope)`). Returns how many vectors."""
    removed: int = await conn.fetchval(SQL.vectors.drop_old, scope.tenant_id, scope.profile_scope)
    return removed
