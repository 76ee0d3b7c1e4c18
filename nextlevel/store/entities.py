"""Tables entities and entity_aliases. An entity is one person's; a name in normal form leads to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import stop_words
from nextlevel.model import EntityType, Scope

from .pool import Connection
from .sql import SQL

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Known:
    """An entity as its names lead to it."""

    id: UUID
    name: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class Alias:
    """A name in normal form. `added` numbers a person's names in the order in which they came."""

    name: str
    known: Known
    added: int = 0


async def aliases(conn: Connection, scope: Scope, *, after: int = 0) -> list[Alias]:
    """Every name of every entity of this person that came after one, in order."""
    rows = await conn.fetch(SQL.entities.aliases, scope.tenant_id, scope.user_id, after)
    return [
        Alias(row["alias"], Known(row["entity_id"], row["name"], EntityType(row["type"])), row["added"]) for row in rows
    ]


async def revision(conn: Connection, scope: Scope) -> int:
    """A number that moves when a name of this person's goes, or means something else; not when one is added."""
    return int(await conn.fetchval(SQL.entities.revision, scope.tenant_id, scope.user_scope) or 0)


async def raise_revision(conn: Connection, scope: Scope) -> None:
    """Names went or mean something else: whoever keeps them must read them all again."""
    await conn.execute(SQL.entities.raise_revision, scope.tenant_id, scope.user_scope)


async def discussed(
    conn: Connection, scope: Scope, entity: UUID, *, since: datetime | None, before: datetime | None, limit: int
) -> list[dict[str, Any]]:
    """In which sessions an entity was spoken of, by which turn, when, and in which words; newest first."""
    rows = await conn.fetch(SQL.entities.discussed, scope.tenant_id, entity, since, before, limit)
    return [dict(row) for row in rows]


async def find(conn: Connection, scope: Scope, name: str, kind: EntityType) -> UUID | None:
    """The entity that `resolve` would find under this name; None: it would make one, or refuse the name."""
    rows = await conn.fetch(SQL.entities.by_alias, scope.tenant_id, scope.user_id, normal_name(name))
    return _meant(rows, normal_name(name), kind)


async def resolve(conn: Connection, scope: Scope, name: str, kind: EntityType) -> UUID | None:
    """The entity of this name, made if there is none. None: it is no name (empty, a stop word, over 200 characters).

    A type is part of an identity: "Mercury" the host does not become "Mercury" the person; the vague `topic` is any,
    and a topic whose kind is told later takes it on. Of several that share an alias the one whose own name it is is
    meant, else none of them.
    """
    normal = normal_name(name)
    if not normal or len(name) > LONGEST_NAME:
        return None
    rows = await conn.fetch(SQL.entities.by_alias, scope.tenant_id, scope.user_id, normal)
    found = _meant(rows, normal, kind)
    if found is not None:
        return found
    if kind is EntityType.TOPIC and normal in stop_words():
        return None
    for row in rows:
        if row["type"] == EntityType.TOPIC:
            await conn.execute(SQL.entities.set_type, scope.tenant_id, row["entity_id"], kind)
            topic: UUID = row["entity_id"]
            return topic
    made: UUID = await conn.fetchval(SQL.entities.insert, scope.tenant_id, scope.user_id, name.strip(), normal, kind)
    await conn.execute(SQL.entities.add_alias, scope.tenant_id, scope.user_id, normal, made)
    return made


def _meant(rows: Sequence[asyncpg.Record], normal: str, kind: EntityType) -> UUID | None:
    fitting = [row for row in rows if row["type"] == kind or kind is EntityType.TOPIC]
    own = [row for row in fitting if row["normal_name"] == normal]
    found: UUID | None = (own or fitting)[0]["entity_id"] if own or len(fitting) == 1 else None
    return found
