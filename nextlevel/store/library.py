"""Tables documents, sections, section_words, section_embeddings, document_edges: what a person looks things up in.

A section is searched as a past turn is, so the functions that read are those of `store.passages` by name and shape.
What a reader gets is walled to its scopes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID, uuid4

import asyncpg
import numpy as np
import numpy.typing as npt

from nextlevel.lang.normal import normal_name
from nextlevel.model import EntityType, Scope

from . import blocks, entities, forget, notes, scopes, turns
from .passages import Nearest, Passage
from .pool import Connection
from .scopes import wall_of
from .sql import SQL

Vector = npt.NDArray[np.float32]


class Put(StrEnum):
    """What became of a document: the first of its path, in the place of another, or left out as it was forgotten."""

    NEW = "new"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"


@dataclass(frozen=True, slots=True)
class Section:
    """A section to be kept. `words` are the roots it is found by; `orders` names what makes it read like orders."""

    heading: str
    body: str
    orders: str | None
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edge:
    """What a document's entity is related to: a predicate, and the name and kind of the other end."""

    predicate: str
    target: str
    type: EntityType


@dataclass(frozen=True, slots=True)
class Document:
    """A document to be kept. `name` is the entity that it is about, None: it names none, and so has no edges.

    `as_memory`: its general lines are memory too, by a turn of kind note that the caller publishes.
    """

    path: str
    title: str
    hash: bytes
    changed_at: datetime
    project: str | None
    name: str | None
    type: EntityType
    aliases: tuple[str, ...]
    sections: tuple[Section, ...]
    edges: tuple[Edge, ...]
    as_memory: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """A document that is kept."""

    id: UUID
    folder: str
    path: str
    title: str
    project: str | None
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Text:
    """A section as it is shown. `orders` names what makes it read like orders to a model: then it is not quoted."""

    id: UUID
    place: int
    heading: str
    body: str
    orders: str | None
    document: Held


# ---- writing


async def hashes(conn: Connection, scope: Scope, folder: str, *, after: str, limit: int) -> dict[str, tuple[str, bool]]:
    """The hash (hex) of each document held of a folder, and whether it is memory too, by path, from just after one."""
    rows = await conn.fetch(SQL.library.hashes, scope.tenant_id, scope.profile_scope, folder, after, limit)
    return {row["path"]: (row["hash"], row["as_memory"]) for row in rows}


async def put(conn: Connection, scope: Scope, folder: str, document: Document) -> tuple[Put, dict[UUID, int]]:
    """Keep a document in the place of what its path held before; not one that was forgotten as it reads.

    The new generations, where memory changed: what it had told is closed, unless it goes on telling.
    """
    await blocks.lock(conn, scope)
    if await conn.fetchval(SQL.library.forgotten, scope.tenant_id, scope.user_id, document.hash.hex()):
        return Put.FORGOTTEN, {}
    before = await conn.fetch(SQL.library.remove, scope.tenant_id, scope.profile_scope, folder, [document.path])
    made: UUID = await conn.fetchval(
        SQL.library.add,
        scope.tenant_id,
        scope.profile_scope,
        scope.user_id,
        folder,
        document.path,
        document.title,
        document.project,
        document.hash,
        document.changed_at,
        document.as_memory,
    )
    rows = [
        (scope.tenant_id, uuid4(), made, scope.profile_scope, place, each.heading, each.body, each.orders)
        for place, each in enumerate(document.sections, 1)
    ]
    await conn.executemany(SQL.library.add_section, rows)
    words = [(row[1], scope.profile_scope, list(each.words)) for row, each in zip(rows, document.sections, strict=True)]
    await conn.executemany(SQL.library.add_words, words)
    await _join(conn, scope, made, document)
    changed = set() if document.as_memory else await _tell_no_more(conn, scope, before)
    generations = await scopes.raise_generations(conn, scope, changed)
    return Put.REPLACED if before else Put.NEW, generations


async def remove(
    conn: Connection, scope: Scope, folder: str, paths: Sequence[str] | None
) -> tuple[int, dict[UUID, int]]:
    """Take documents out, of these paths or all of the folder. How many went, and the new generations."""
    await blocks.lock(conn, scope)
    rows = await conn.fetch(SQL.library.remove, scope.tenant_id, scope.profile_scope, folder, paths)
    if not rows:
        return 0, {}
    changed = await _tell_no_more(conn, scope, rows)
    await forget.delete_orphans(conn, scope)
    return len(rows), await scopes.raise_generations(conn, scope, changed | {scope.profile_scope})


async def _tell_no_more(conn: Connection, scope: Scope, documents: Iterable[asyncpg.Record]) -> set[UUID]:
    """Close what documents told memory that are taken out, or are to be looked up only. The scopes that changed."""
    told = [notes.address(each["folder"], each["path"]) for each in documents if each["as_memory"]]
    return await notes.end(conn, scope, told, at=datetime.now(UTC), caused_by="its document was taken out")


async def tidy(conn: Connection, scope: Scope) -> None:
    """Let go of entities that only an earlier form of some document named."""
    await blocks.lock(conn, scope)
    await forget.delete_orphans(conn, scope)


async def forget_document(conn: Connection, scope: Scope, document: UUID) -> dict[UUID, int]:
    """Take a document out for good, and what memory has from it alone: importing its folder again leaves it out until
    it reads otherwise.

    The new generations, by which a search that began before is not given to who asks after; empty: it is not here.
    """
    await blocks.lock(conn, scope)
    rows = await conn.fetch(SQL.library.get, scope.tenant_id, [document])
    if not rows:
        return {}
    await turns.tombstone(conn, scope, "document", rows[0]["hash"], datetime.now(UTC))
    await conn.execute(SQL.library.forget, scope.tenant_id, document)
    generations: dict[UUID, int] = {}
    for turn in await notes.turns(conn, scope, [notes.address(rows[0]["folder"], rows[0]["path"])]):
        gone = await forget.retract_turn(conn, scope, turn, reason="its document was forgotten")
        generations |= gone.generations
    await forget.delete_orphans(conn, scope)
    return generations | await scopes.raise_generations(conn, scope, [rows[0]["scope_id"]])


async def _join(conn: Connection, scope: Scope, made: UUID, document: Document) -> None:
    """Resolve the names that a document links, by what the person's memory knows under them, and keep the edges."""
    subject: UUID | None = None
    for edge in document.edges if document.name is not None else ():
        object_ = await entities.resolve(conn, scope, edge.target, edge.type)
        if object_ is None:
            continue
        if subject is None:
            subject = await _entity_of(conn, scope, document)
        if subject is None or subject == object_:
            continue
        await conn.execute(
            SQL.library.add_edge,
            scope.tenant_id,
            made,
            scope.profile_scope,
            scope.user_id,
            normal_name(document.name or ""),
            subject,
            edge.predicate,
            normal_name(edge.target),
            object_,
        )


async def _entity_of(conn: Connection, scope: Scope, document: Document) -> UUID | None:
    entity = await entities.resolve(conn, scope, document.name or "", document.type)
    for alias in document.aliases if entity is not None else ():
        if normal := normal_name(alias[: entities.LONGEST_NAME]):
            await conn.execute(SQL.entities.add_alias, scope.tenant_id, scope.user_id, normal, entity)
    return entity


# ---- vectors


async def without_vectors(conn: Connection, model: str) -> list[Scope]:
    """Walls behind which sections wait for their vectors (inside `Database.pipeline`)."""
    return [wall_of(row) for row in await conn.fetch(SQL.library.unembedded_scopes, model)]


async def unembedded(conn: Connection, scope: Scope, model: str, *, limit: int) -> list[tuple[str, str]]:
    """Sections that `model` has not seen yet: the section, and what is embedded of it."""
    rows = await conn.fetch(SQL.library.unembedded, scope.tenant_id, scope.readable, model, limit)
    return [(str(row["section_id"]), f"{row['title']}: {row['heading']}\n{row['body']}") for row in rows]


async def add_embeddings(conn: Connection, scope: Scope, model: str, vectors: Mapping[str, Vector]) -> None:
    """Keep unit vectors of sections; one that went meanwhile gets none."""
    rows = [(scope.tenant_id, section, model, vector) for section, vector in vectors.items()]
    await conn.executemany(SQL.library.add_embedding, rows)


# ---- reading, as `store.passages` is read


async def size(conn: Connection, scope: Scope, *, as_of: datetime | None) -> int:
    count: int = await conn.fetchval(SQL.library.size, scope.tenant_id, scope.readable, as_of)
    return count


async def count_words(conn: Connection, words: Collection[str]) -> dict[str, int]:
    """In how many sections each word stands; a word that none has is left out."""
    return {row["word"]: row["sections"] for row in await conn.fetch(SQL.library.count_words, sorted(words))}


async def by_words(
    conn: Connection, scope: Scope, weights: Mapping[str, float], *, as_of: datetime | None, limit: int
) -> list[str]:
    """The sections that hold most of the words by weight, best first."""
    words = list(weights)
    rows = await conn.fetch(
        SQL.library.by_words, scope.tenant_id, words, [weights[word] for word in words], as_of, limit
    )
    return [str(row["section_id"]) for row in rows]


async def by_vector(
    conn: Connection, scope: Scope, vector: Vector, model: str, *, as_of: datetime | None, limit: int
) -> Nearest:
    """The sections nearest to a vector; exact."""
    rows = await conn.fetch(SQL.library.by_vector, scope.tenant_id, scope.readable, vector, model, as_of, limit)
    found = [(str(row["section_id"]), row["cosine"]) for row in rows]
    return Nearest(found, rows[0]["mean"], rows[0]["deviation"]) if rows else Nearest([], 0.0, 0.0)


async def beside(conn: Connection, scope: Scope, sections: Collection[str], *, as_of: datetime | None) -> list[str]:
    """The sections just before and after these in their documents."""
    rows = await conn.fetch(SQL.library.beside, scope.tenant_id, scope.readable, list(sections))
    return [str(row["section_id"]) for row in rows]


async def read(conn: Connection, scope: Scope, sections: Collection[str], model: str) -> list[Passage]:
    """Sections as search sees them: a document is to them what a session is to turns."""
    rows = await conn.fetch(SQL.library.read, scope.tenant_id, scope.readable, list(sections), model)
    return [
        Passage(
            turn_id=str(row["section_id"]),
            session=str(row["document_id"]),
            ordinal=row["place"],
            at=row["changed_at"],
            speaker="",
            weak=False,
            words=tuple(row["words"]),
            vector=None if row["emb"] is None else np.asarray(row["emb"].to_numpy(), dtype=np.float32),
        )
        for row in rows
    ]


async def texts(conn: Connection, scope: Scope, sections: Collection[str]) -> dict[str, Text]:
    """Sections as they are shown, with their documents."""
    rows = await conn.fetch(SQL.library.texts, scope.tenant_id, scope.readable, list(sections))
    return {
        str(row["section_id"]): Text(
            row["section_id"],
            row["place"],
            row["heading"],
            row["body"],
            row["orders"],
            Held(row["document_id"], row["folder"], row["path"], row["title"], row["project"], row["changed_at"]),
        )
        for row in rows
    }
