"""Entities joined and taken apart by hand. Tables entities, entity_aliases, entity_merges, and what speaks of them.

All of it runs inside `Database.memory(scope)`, in one transaction under the person's lock. A merged entity keeps its
row and loses its names; what spoke of it speaks of the kept one. So nobody links to a merged entity, and no merge can
close a circle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import asyncpg

from nextlevel.errors import Conflict, NotFound
from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import words
from nextlevel.model import EntityType, Scope

from . import blocks, entities
from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Merge:
    """One entity that was joined to another (`merged_at`), split off it (`split_at`), or both, in that order."""

    name: str
    merged_at: datetime | None
    split_at: datetime | None


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with its names in normal form, how many blocks of this wall speak of it, and what was done by hand."""

    id: UUID
    name: str
    type: EntityType
    aliases: tuple[str, ...]
    blocks: int
    merges: tuple[Merge, ...]


Generations = dict[UUID, int]


async def find(conn: Connection, scope: Scope, name: str, kind: EntityType | None = None) -> UUID:
    """The entity that bears a name.

    Raises:
        NotFound: nobody does.
        Conflict: several do; the message tells their types, of which one can be given.
    """
    normal = normal_name(name)
    rows = await conn.fetch(SQL.entities.by_alias, scope.tenant_id, scope.user_id, normal)
    fitting = [row for row in rows if kind is None or row["type"] == kind]
    if not fitting:
        raise NotFound(f"nothing in this memory is called {name[:80]!r}")
    own = [row for row in fitting if row["normal_name"] == normal]
    if len(fitting) > 1 and len(own) != 1:
        bearers = ", ".join(f"{row['name']} ({row['type']})" for row in fitting)
        raise Conflict(f"{name!r} may be {bearers}: give its full name or its type")
    found: UUID = (own or fitting)[0]["entity_id"]
    return found


async def show(conn: Connection, scope: Scope, entity: UUID) -> Entity:
    """An entity with its names and its past."""
    row = await _get(conn, scope, entity)
    names = await conn.fetch(SQL.entities.names, scope.tenant_id, scope.user_id, entity)
    past = await conn.fetch(SQL.entities.merges, scope.tenant_id, entity)
    return Entity(
        id=entity,
        name=row["name"],
        type=EntityType(row["type"]),
        aliases=tuple(each["alias"] for each in names),
        blocks=await conn.fetchval(SQL.entities.count_blocks, scope.tenant_id, entity),
        merges=tuple(Merge(each["name"], each["merged_at"], each["split_at"]) for each in past),
    )


async def merge(conn: Connection, scope: Scope, kept: UUID, merged: UUID) -> Generations:
    """Let one entity be another: its names lead there, and what spoke of it speaks of that. The generations raised.

    Raises:
        Conflict: they are one already, or are of two kinds.
    """
    await blocks.lock(conn, scope)
    into, gone = await _get(conn, scope, kept), await _get(conn, scope, merged)
    if kept == merged:
        raise Conflict(f"{into['name']!r} is one entity already")
    for row in (into, gone):
        if row["merged_into"] is not None:
            raise Conflict(f"{row['name']!r} is merged into another entity: split it off first")
    if into["type"] != gone["type"] and EntityType.TOPIC not in (into["type"], gone["type"]):
        raise Conflict(f"a {into['type']} and a {gone['type']} can't be one: {into['name']!r}, {gone['name']!r}")
    moved = await _blocks(conn, merged)
    shared = sorted(set(moved) & set(await _blocks(conn, kept)))
    names = [row["alias"] for row in await conn.fetch(SQL.entities.names, scope.tenant_id, scope.user_id, merged)]
    number = uuid4()
    await _add(conn, scope, number, kept, merged, names, moved, shared, merged_at=datetime.now(UTC))
    return await _move(conn, scope, names, moved, merged, kept, "merged", number)


async def split(conn: Connection, scope: Scope, entity: UUID, name: str, of: Sequence[UUID] = ()) -> Generations:
    """Take an entity apart: what was merged into it under this name becomes itself again; else the blocks `of` it that
    are about somebody or something else become those of a new entity of that name. The generations raised.

    Raises:
        Conflict: nothing of that name was merged, and no block is given; or a block does not speak of the entity.
    """
    await blocks.lock(conn, scope)
    row = await _get(conn, scope, entity)
    for past in await conn.fetch(SQL.entities.merges, scope.tenant_id, entity):
        if past["split_at"] is None and normal_name(name) == past["normal_name"] and not of:
            return await _undo(conn, scope, past)
    if not of:
        raise Conflict(f"no {name!r} was merged into {row['name']!r}: name the blocks that are about {name!r}")
    if strangers := set(of) - set(await _blocks(conn, entity)):
        raise Conflict(f"block {min(strangers)} does not speak of {row['name']!r}")
    made = await entities.resolve(conn, scope, name, EntityType(row["type"]))
    if made is None or made == entity:
        raise Conflict(f"{name[:80]!r} can't be the name of another entity")
    number = uuid4()
    await _add(conn, scope, number, entity, made, [], of, [], split_at=datetime.now(UTC))
    return await _move(conn, scope, [], of, entity, made, "split", number)


async def _undo(conn: Connection, scope: Scope, past: asyncpg.Record) -> Generations:
    """Give the names and blocks back. What spoke of both stays with the kept one, and speaks of the other again."""
    alone = sorted(set(past["blocks"]) - set(past["shared"]))
    await conn.execute(SQL.entities.end_merge, scope.tenant_id, past["merge_id"])
    generations = await _move(
        conn, scope, past["aliases"], alone, past["kept"], past["merged"], "split", past["merge_id"]
    )
    await conn.execute(SQL.entities.mention_again, scope.tenant_id, past["shared"], past["merged"])
    await blocks.touch(conn, scope, past["shared"])
    return generations


async def _move(
    conn: Connection,
    scope: Scope,
    names: Sequence[str],
    moved: Sequence[UUID],
    source: UUID,
    target: UUID,
    why: str,
    number: UUID,
) -> Generations:
    await conn.execute(SQL.entities.move_names, scope.tenant_id, scope.user_id, names, source, target)
    await conn.execute(SQL.library.move_names, scope.tenant_id, scope.user_id, names, source, target)
    await entities.raise_revision(conn, scope)
    now = await conn.fetch(SQL.entities.names, scope.tenant_id, scope.user_id, target)
    named = words(" ".join(row["alias"] for row in now))
    rows = await conn.fetch(SQL.entities.move_blocks, moved, source, target, why, f"{why}:{number}", named)
    return {row["scope_id"]: row["generation"] for row in rows}


async def _add(
    conn: Connection,
    scope: Scope,
    number: UUID,
    kept: UUID,
    merged: UUID,
    names: Sequence[str],
    moved: Sequence[UUID],
    shared: Sequence[UUID],
    *,
    merged_at: datetime | None = None,
    split_at: datetime | None = None,
) -> None:
    await conn.execute(
        SQL.entities.add_merge,
        scope.tenant_id,
        scope.user_id,
        number,
        kept,
        merged,
        names,
        moved,
        shared,
        merged_at,
        split_at,
    )


async def _get(conn: Connection, scope: Scope, entity: UUID) -> asyncpg.Record:
    row = await conn.fetchrow(SQL.entities.get, scope.tenant_id, scope.user_id, entity)
    if row is None:
        raise NotFound(f"no entity {entity} in this memory")
    return row


async def _blocks(conn: Connection, entity: UUID) -> list[UUID]:
    found: list[UUID] = await conn.fetchval(SQL.entities.blocks_of, entity)
    return found
