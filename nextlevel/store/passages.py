"""Tables passages, passage_words, passage_embeddings: past turns as search sees them.

Upkeep makes them (`unindexed`, `add`, `add_embeddings`), recall reads them, forgetting takes them away. What a reader
gets is walled to its scopes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt

from nextlevel.lang.passages import SIDE_CHARS
from nextlevel.model import Scope

from .pool import Connection
from .scopes import wall_of
from .sql import SQL

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Said:
    """What was said in a turn, the head of each side; `at` in the speaker's own zone.

    `outdated`: something that was learnt from it holds no longer. `project`: the one that was worked on.
    """

    turn_id: str
    session: str
    ordinal: int
    at: datetime
    said: str
    answered: str
    outdated: bool = False
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn as search sees it. `words` are roots, each once; `vector` None: it waits for one."""

    turn_id: str
    session: str
    ordinal: int
    at: datetime
    speaker: str
    weak: bool
    words: tuple[str, ...]
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class Nearest:
    """The passages nearest to a vector with their cosine, nearest first; mean and deviation are those of all."""

    found: list[tuple[str, float]]
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Backlog:
    """Turns without a passage, scopes in which passages wait for vectors; `moves` grows as that changes."""

    unindexed: int
    scopes_without_vectors: int
    moves: int


# ---- making


async def unindexed(conn: Connection) -> list[Scope]:
    """Walls behind which turns wait for their passage (inside `Database.pipeline`)."""
    return [wall_of(row) for row in await conn.fetch(SQL.passages.unindexed)]


async def backlog(conn: Connection, model: str) -> Backlog:
    """What waits to be indexed (inside `Database.pipeline`)."""
    [row] = await conn.fetch(SQL.passages.backlog, model)
    return Backlog(row["unindexed"], row["scopes_without_vectors"], row["moves"])


async def take_unindexed(conn: Connection, scope: Scope, *, limit: int) -> list[Said]:
    """Turns without a passage, oldest first, locked until the transaction ends."""
    rows = await conn.fetch(
        SQL.passages.take_unindexed, scope.tenant_id, scope.user_id, scope.profile_scope, SIDE_CHARS, limit
    )
    return [_said(row) for row in rows]


async def add(conn: Connection, scope: Scope, said: Said, *, speaker: str, weak: bool, words: Sequence[str]) -> None:
    """Make a turn's passage."""
    made = await conn.fetchval(
        SQL.passages.add,
        scope.tenant_id,
        said.turn_id,
        scope.profile_scope,
        said.session,
        said.ordinal,
        said.at,
        speaker,
        weak,
    )
    if made:
        await conn.execute(SQL.passages.add_words, said.turn_id, scope.profile_scope, list(words))


async def mark_indexed(conn: Connection, scope: Scope, turn_ids: Sequence[str]) -> None:
    await conn.execute(SQL.passages.mark_indexed, scope.tenant_id, list(turn_ids))


async def without_vectors(conn: Connection, model: str) -> list[Scope]:
    """Walls behind which passages wait for their vectors (inside `Database.pipeline`)."""
    return [wall_of(row) for row in await conn.fetch(SQL.passages.unembedded_scopes, model)]


async def unembedded(conn: Connection, scope: Scope, model: str, *, limit: int) -> list[tuple[str, str, str]]:
    """Passages that `model` has not seen yet, newest first: the turn, and what was said by each side."""
    rows = await conn.fetch(SQL.passages.unembedded, scope.tenant_id, scope.readable, model, SIDE_CHARS, limit)
    return [(row["turn_id"], row["said"], row["answered"]) for row in rows]


async def add_embeddings(conn: Connection, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
    """Keep unit vectors of passages; one that was forgotten meanwhile gets none."""
    await conn.executemany(
        SQL.passages.add_embedding,
        [(scope.tenant_id, turn_id, scope.profile_scope, model, vector) for turn_id, vector in vectors.items()],
    )


async def moved(conn: Connection, scope: Scope) -> None:
    """Tell those who hold the scope hot that passages came. What is cached stays right, so no generation moves."""
    await conn.execute(SQL.passages.moved, scope.tenant_id, scope.profile_scope)


async def forget(conn: Connection, turn_ids: Collection[str]) -> dict[UUID, int]:
    """Take away the passages of turns, whichever of the person's profiles heard them. The new generations."""
    rows = await conn.fetch(SQL.passages.forget, list(turn_ids))
    return {row["scope_id"]: row["generation"] for row in rows}


# ---- reading


async def state(conn: Connection, scope: Scope) -> int:
    """A number that moves whenever a passage of the scope comes, goes, or gets its vector."""
    found: int = await conn.fetchval(SQL.passages.state, scope.tenant_id, scope.readable)
    return found


async def heads(conn: Connection, scope: Scope, model: str, *, limit: int) -> dict[str, bool]:
    """The newest passages by turn; the value says whether it has a vector of `model`."""
    rows = await conn.fetch(SQL.passages.heads, scope.tenant_id, scope.readable, model, limit)
    return {row["turn_id"]: row["embedded"] for row in rows}


async def read(conn: Connection, scope: Scope, turn_ids: Collection[str], model: str) -> list[Passage]:
    rows = await conn.fetch(SQL.passages.read, scope.tenant_id, scope.readable, list(turn_ids), model)
    return [_passage(row) for row in rows]


async def size(conn: Connection, scope: Scope, *, as_of: datetime | None) -> int:
    count: int = await conn.fetchval(SQL.passages.size, scope.tenant_id, scope.readable, as_of)
    return count


async def count_words(conn: Connection, words: Collection[str]) -> dict[str, int]:
    """In how many passages each word stands; a word that none has is left out."""
    return {row["word"]: row["passages"] for row in await conn.fetch(SQL.passages.count_words, sorted(words))}


async def by_words(
    conn: Connection, scope: Scope, weights: Mapping[str, float], *, as_of: datetime | None, limit: int
) -> list[str]:
    """The passages that hold most of the words by weight, best first."""
    words = list(weights)
    rows = await conn.fetch(
        SQL.passages.by_words, scope.tenant_id, words, [weights[word] for word in words], as_of, limit
    )
    return [row["turn_id"] for row in rows]


async def by_vector(
    conn: Connection, scope: Scope, vector: Vector, model: str, *, as_of: datetime | None, limit: int
) -> Nearest:
    """The passages nearest to a vector; exact."""
    rows = await conn.fetch(SQL.passages.by_vector, scope.tenant_id, scope.readable, vector, model, as_of, limit)
    found = [(row["turn_id"], row["cosine"]) for row in rows]
    return Nearest(found, rows[0]["mean"], rows[0]["deviation"]) if rows else Nearest([], 0.0, 0.0)


async def beside(conn: Connection, scope: Scope, turn_ids: Collection[str], *, as_of: datetime | None) -> list[str]:
    """The passages just before and after these in their sessions."""
    rows = await conn.fetch(SQL.passages.beside, scope.tenant_id, scope.readable, list(turn_ids), as_of)
    return [row["turn_id"] for row in rows]


async def said(conn: Connection, scope: Scope, turn_ids: Collection[str]) -> dict[str, Said]:
    """What was said in these turns, as far as it may still be shown."""
    rows = await conn.fetch(SQL.passages.said, scope.tenant_id, scope.readable, list(turn_ids), SIDE_CHARS)
    return {row["id"]: replace(_said(row), outdated=row["outdated"], project=row["project"]) for row in rows}


def _said(row: asyncpg.Record) -> Said:
    zone = timezone(timedelta(minutes=row["utc_offset_min"]))
    at = row["at"].astimezone(zone)
    return Said(row["id"], row["session"], row["ordinal"], at, row["said"], row["answered"])


def _passage(row: asyncpg.Record) -> Passage:
    emb = row["emb"]
    return Passage(
        turn_id=row["turn_id"],
        session=row["session"],
        ordinal=row["ordinal"],
        at=row["at"],
        speaker=row["speaker"],
        weak=row["weak"],
        words=tuple(row["words"]),
        vector=None if emb is None else np.asarray(emb.to_numpy(), dtype=np.float32),
    )
