"""What recall and the API read: blocks by words, by vector, by the graph, by page; and all of a scope, to hold it hot.

Every function takes a connection of `Database.memory(scope)`: what it can return is walled to that scope.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt

from nextlevel.errors import NotFound
from nextlevel.model import Block, BlockStatus, BlockType, Category, Scope, Verdict

from .blocks import block_of
from .pool import Connection
from .scopes import scope_of
from .sql import SQL

Vector = npt.NDArray[np.float32]

MOST_NODES = 500
"""Entities that a walk through the graph reaches at most: behind a hub stands half of a memory."""

_NEIGHBOURS = 60  # edges followed from the entities of a query, as measured in bounded 1-2 hop search


@dataclass(frozen=True, slots=True)
class Found:
    """A block as recall needs it: with the entities it speaks of, its vector, and when it ends by itself.

    `edges`, pairs of entities that it joins, subject first, and `cosine`, to some vector, are there if asked for.
    """

    block: Block
    subject: UUID | None
    entities: frozenset[UUID]
    vector: Vector | None
    updated_at: datetime
    expires_at: datetime
    edges: tuple[tuple[UUID, UUID], ...] = ()
    verdict: Verdict | None = None
    cosine: float | None = None

    def holds(self, now: datetime) -> bool:
        """True unless its time is over; that it is active is the query's to know."""
        ends = self.block.valid_to
        return self.expires_at > now and (ends is None or ends > now)


@dataclass(frozen=True, slots=True)
class Head:
    """A block's id and state, enough to tell whether a copy of it is fresh, and whether it is to be held at all."""

    id: UUID
    updated_at: datetime
    active: bool
    embedded: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """What there is of a scope, by numbers: its active blocks, and all names of its person's entities.

    `revision` moves when a name goes, or means something else.
    """

    at: datetime
    blocks: int
    aliases: int
    revision: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """The blocks nearest to a vector with their cosine, nearest first; the mean over all `blocks` of the scope."""

    found: list[tuple[UUID, float]]
    mean: float
    blocks: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page of blocks ended."""

    created_at: datetime
    id: UUID


async def generations(conn: Connection, scope: Scope) -> dict[UUID, int]:
    """The generation of each scope that the reader sees. Read it before the data: then the data are no older."""
    rows = await conn.fetch(SQL.search.generations, scope.tenant_id, scope.readable)
    return {row["scope_id"]: row["generation"] for row in rows}


async def heads(conn: Connection, scope: Scope, model: str) -> list[Head]:
    """Every active block of the scope; `embedded` says whether it has a vector of `model`."""
    rows = await conn.fetch(SQL.search.heads, scope.tenant_id, scope.readable, model)
    return [_head(row) for row in rows]


async def changed(conn: Connection, scope: Scope, model: str, since: datetime) -> list[Head]:
    """Every block of the scope that changed since a moment of the database's clock, but for those that are gone."""
    rows = await conn.fetch(SQL.search.changed, scope.tenant_id, scope.readable, model, since)
    return [_head(row) for row in rows]


async def counted(conn: Connection, scope: Scope) -> Counted:
    """How much there is now: whoever caught up with less has missed something."""
    (row,) = await conn.fetch(SQL.search.counted, scope.tenant_id, scope.readable, scope.user_id, scope.user_scope)
    return Counted(row["at"], row["blocks"], row["aliases"], row["revision"])


async def bodies(
    conn: Connection,
    scope: Scope,
    ids: Collection[UUID],
    model: str | None,
    *,
    edges: bool = False,
    beside: Vector | None = None,
) -> list[Found]:
    """Blocks by id, with what they speak of, and `edges` if asked for.

    Their vectors of `model` if one is named; with a vector to see them `beside`, their cosines to it instead.
    """
    rows = await conn.fetch(SQL.search.bodies, scope.tenant_id, list(ids), model, edges, beside)
    return [_found(row) for row in rows]


async def unchanged(conn: Connection, scope: Scope, held: Mapping[UUID, datetime]) -> set[UUID]:
    """Those of the blocks that last changed when a copy of them says so: such a copy need not be read again."""
    rows = await conn.fetch(SQL.search.unchanged, scope.tenant_id, list(held), list(held.values()))
    return {row["block_id"] for row in rows}


async def as_known(conn: Connection, scope: Scope, ids: Collection[UUID], moment: datetime) -> dict[UUID, Block]:
    """Those of the blocks that memory knew at a moment, as they were then."""
    rows = await conn.fetch(SQL.search.as_known, scope.tenant_id, list(ids), moment)
    return {row["block_id"]: block_of(row) for row in rows}


async def aliases(conn: Connection, scope: Scope, entities: Collection[UUID] | None = None) -> list[tuple[str, UUID]]:
    """Each name, in normal form, of these entities; of all that the person has where none are given."""
    rows = await conn.fetch(
        SQL.search.aliases, scope.tenant_id, scope.user_id, None if entities is None else list(entities)
    )
    return [(row["alias"], row["entity_id"]) for row in rows]


async def named(conn: Connection, scope: Scope, names: Collection[str]) -> list[tuple[str, UUID]]:
    """Which of these names, in normal form, are some entity's."""
    rows = await conn.fetch(SQL.search.named, scope.tenant_id, scope.user_id, list(names))
    return [(row["alias"], row["entity_id"]) for row in rows]


async def spoken_of(conn: Connection, scope: Scope, names: Collection[str]) -> list[tuple[str, UUID]]:
    """Which of these names are some entity's, and each name of the entities into which others were merged by hand.

    Names are in normal form; an entity that no block of this wall speaks of is left out.
    """
    rows = await conn.fetch(SQL.search.spoken_of, scope.tenant_id, scope.user_id, list(names))
    return [(row["alias"], row["entity_id"]) for row in rows]


async def weigh(conn: Connection, words: Collection[str]) -> tuple[dict[str, float], int]:
    """How rare each word is in the scope, ln(1 + blocks / blocks with it); and how many blocks hold a word at all.

    A word that no block has is left out.
    """
    [row] = await conn.fetch(SQL.search.weigh, sorted(set(words)))
    return dict(zip(row["words"] or (), row["weights"] or (), strict=True)), row["blocks"]


async def by_words(
    conn: Connection,
    scope: Scope,
    words: Collection[str],
    *,
    as_of: datetime | None,
    known_at: datetime | None = None,
    limit: int,
) -> list[UUID]:
    """The blocks that share the rarest of these words, best first."""
    rows = await conn.fetch(SQL.search.by_words, scope.tenant_id, sorted(set(words)), as_of, limit, known_at)
    return [row["block_id"] for row in rows]


async def by_vector(
    conn: Connection,
    scope: Scope,
    vector: Vector,
    model: str,
    *,
    as_of: datetime | None,
    known_at: datetime | None = None,
    limit: int,
) -> Nearest:
    """The blocks nearest to a vector; exact, so that k asked are k given."""
    rows = await conn.fetch(
        SQL.search.by_vector, scope.tenant_id, scope.readable, vector, model, as_of, limit, known_at
    )
    found = [(row["block_id"], row["cosine"]) for row in rows]
    return Nearest(found, rows[0]["mean"], rows[0]["blocks"]) if rows else Nearest([], 0.0, 0)


async def near(
    conn: Connection,
    scope: Scope,
    entities: Collection[UUID],
    *,
    as_of: datetime | None,
    known_at: datetime | None = None,
    limit: int,
) -> list[tuple[UUID, int]]:
    """The blocks that speak of these entities (1) or of a neighbour of one (2), nearest and newest first."""
    rows = await conn.fetch(SQL.search.near, scope.tenant_id, list(entities), as_of, _NEIGHBOURS, limit, known_at)
    return [(row["block_id"], row["hop"]) for row in rows]


async def page(
    conn: Connection,
    scope: Scope,
    *,
    statuses: Sequence[BlockStatus] | None = None,
    type: BlockType | None = None,
    category: Category | None = None,
    entity: UUID | None = None,
    valid_at: datetime | None = None,
    known_at: datetime | None = None,
    text: str | None = None,
    after: Cursor | None = None,
    limit: int,
) -> list[Block]:
    """Blocks, newest first, from just after a cursor. `text` is a piece of what they say.

    `known_at` gives those that were known at that moment, as they were then.
    """
    cursor = (None, None) if after is None else (after.created_at, after.id)
    rows = await conn.fetch(
        SQL.search.page,
        scope.tenant_id,
        scope.readable,
        statuses,
        type,
        category,
        entity,
        valid_at,
        *cursor,
        limit,
        text,
        known_at,
    )
    if known_at is None:
        return [block_of(row) for row in rows]
    known = await as_known(conn, scope, [row["block_id"] for row in rows], known_at)
    return [known[row["block_id"]] for row in rows]


async def history(conn: Connection, scope: Scope, block_id: UUID) -> list[dict[str, Any]]:
    """A fact through time: each block of its line, oldest first, with its changes and the words it stands on.

    Raises:
        NotFound: no such block in this scope.
    """
    blocks = [block_of(row) for row in await conn.fetch(SQL.search.lineage, scope.tenant_id, block_id)]
    if not blocks:
        raise NotFound(f"no block {block_id} in this scope")
    ids = [block.id for block in blocks]
    changes = await conn.fetch(SQL.search.versions, scope.tenant_id, ids)
    sources = await conn.fetch(SQL.search.sources, scope.tenant_id, ids)
    return [
        {
            "block": block,
            "changes": [_without_block(row) for row in changes if row["block_id"] == block.id],
            "sources": [_without_block(row) for row in sources if row["block_id"] == block.id],
        }
        for block in blocks
    ]


async def sources_in_context(conn: Connection, scope: Scope, block_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    """The turns that a block stands on, newest first: the span, and all that was said around it."""
    return [dict(row) for row in await conn.fetch(SQL.search.sources_in_context, scope.tenant_id, block_id, limit)]


async def entities_of(conn: Connection, scope: Scope, block_id: UUID) -> list[dict[str, Any]]:
    """What a block speaks of: id, name and type of each entity."""
    return [dict(row) for row in await conn.fetch(SQL.search.entities_of, scope.tenant_id, block_id)]


async def graph(
    conn: Connection, scope: Scope, *, around: UUID | None = None, hops: int = 2, limit: int
) -> list[dict[str, Any]]:
    """Edges with the names of their ends, newest first: all of the scope's, or those within some steps of an entity.

    An edge is a block's, or a document's link.
    """
    rows = await conn.fetch(SQL.search.graph, scope.tenant_id, scope.readable, around, limit, hops, MOST_NODES)
    return [dict(row) for row in rows]


async def scope_of_turn(conn: Connection, turn_id: str) -> Scope:
    """Whose memory a turn is part of. This one goes through `Database.pipeline`: it finds out which wall to stand in.

    Raises:
        NotFound: there is no such turn.
    """
    row = await conn.fetchrow(SQL.search.scope_of_turn, turn_id, turn_id.rpartition(":")[0])
    if row is None:
        raise NotFound(f"there is no turn {turn_id!r}")
    return scope_of(row)


def _without_block(row: asyncpg.Record) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "block_id"}


def _head(row: asyncpg.Record) -> Head:
    return Head(row["block_id"], row["updated_at"], row["active"], row["embedded"])


def _found(row: asyncpg.Record) -> Found:
    emb = row["emb"]
    return Found(
        block=block_of(row),
        subject=row["subject_entity"],
        entities=frozenset(row["entities"]),
        vector=None if emb is None else np.asarray(emb.to_numpy(), dtype=np.float32),
        updated_at=row["updated_at"],
        expires_at=row["expires_at"],
        edges=tuple((one, other) for one, other in row["edges"]),
        verdict=row["verdict"] and Verdict(row["verdict"]),
        cosine=row["cosine"],
    )
