"""/v1/library: documents to look things up in. An importer asks what is held, sends what changed, removes what went."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Annotated, Self
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, model_validator

from nextlevel.event import MAX_SESSION_CHARS, Event
from nextlevel.library import document_of, to_distil
from nextlevel.store import library, notes
from nextlevel.store.library import Document, Put

from . import telling
from .access import CallerOf, ScopeBody, ScopeQuery
from .services import ServicesOf

router = APIRouter(tags=["library"])

MOST_DOCUMENTS = 100
MOST_CHARS = 1_048_576
PAGE = 1_000

MOST_NAME_BYTES = 1_000


def _storable(name: str) -> str:
    if "\x00" in name or len(name.encode()) > MOST_NAME_BYTES:
        raise ValueError(f"a name has no NUL and at most {MOST_NAME_BYTES} bytes")
    return name


Name = Annotated[str, Field(min_length=1), AfterValidator(_storable)]
Folder = Annotated[Name, Field(description="Where the documents come from.")]
Path = Annotated[Name, Field(description="The document's place in its folder, with /.")]


class DocumentBody(BaseModel):
    """A Markdown file. `hash` is yours to choose: the same hash says that nothing needs to be sent again."""

    path: Path
    text: str = Field(max_length=MOST_CHARS)
    hash: str = Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, in hex.")
    changed_at: AwareDatetime


class DocumentsBody(BaseModel):
    """Documents of one folder. Each takes the place of what its path held before."""

    scope: ScopeBody
    folder: Folder
    project: str | None = Field(default=None, min_length=1, max_length=200, description="The project they belong to.")
    as_memory: bool = Field(default=False, description="Let their general lines enter memory too: a few of each.")
    documents: list[DocumentBody] = Field(min_length=1, max_length=MOST_DOCUMENTS)

    @model_validator(mode="after")
    def _addresses_fit(self) -> Self:
        longest = max(len(notes.address(self.folder, each.path)) for each in self.documents)
        if self.as_memory and longest > MAX_SESSION_CHARS:
            raise ValueError(f"folder and path of a source of memory have at most {MAX_SESSION_CHARS} characters")
        return self


class TakenOut(BaseModel):
    """How many documents were kept; of their `sections` so many read like `orders` and are not quoted; secrets that
    were `redacted`, by kind. `forgotten` are paths that were forgotten as they read, and stay so; `cut` those that had
    more sections than a note has (2,000), whose end is left out.
    """

    kept: int
    sections: int
    orders: int
    redacted: dict[str, int]
    forgotten: list[str]
    cut: list[str]


class RemoveBody(BaseModel):
    """The documents to take out: those of these paths, or all of the folder where `paths` is null."""

    scope: ScopeBody
    folder: Folder
    paths: list[Path] | None = Field(max_length=10_000)


class RemovedOut(BaseModel):
    removed: int


class HeldOut(BaseModel):
    """The hash of each document that is held, by path; one page. `as_memory` are the paths of those whose general lines
    are memory too. `next` is the cursor of the next; null: the last."""

    hashes: dict[str, str]
    as_memory: list[str]
    next: str | None


@router.get("/v1/library")
async def held(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    folder: Annotated[Folder, Query()],
    after: Annotated[str, AfterValidator(_storable), Query(description="`next` of the page before.")] = "",
) -> HeldOut:
    """What is held of a folder, so that only what differs is sent."""
    scope = await caller.scope(of)
    async with services.db.memory(scope) as conn:
        found = await library.hashes(conn, scope, folder, after=after, limit=PAGE)
    return HeldOut(
        hashes={path: hash_ for path, (hash_, _) in found.items()},
        as_memory=[path for path, (_, as_memory) in found.items() if as_memory],
        next=list(found)[-1] if len(found) == PAGE else None,
    )


@router.post("/v1/library/documents")
async def keep(body: DocumentsBody, caller: CallerOf, services: ServicesOf) -> TakenOut:
    """Keep documents. The next search finds them by their words, a later one by meaning, once upkeep embedded them.

    With `as_memory` the workers distil them, and close what a changed one says no more. Without, memory has nothing of
    them.
    """
    scope = await caller.scope(body.scope)
    above = await telling.highest(services, body.scope) if body.as_memory else 0
    generations: dict[UUID, int] = {}
    out = TakenOut(kept=0, sections=0, orders=0, redacted={}, forgotten=[], cut=[])
    redacted: Counter[str] = Counter()
    replaced = False
    for each in body.documents:
        taken = await asyncio.to_thread(
            document_of,
            each.path,
            each.text,
            hash=bytes.fromhex(each.hash),
            changed_at=each.changed_at,
            project=body.project,
        )
        document = replace(taken.document, as_memory=body.as_memory)
        async with services.db.memory(scope) as conn:
            put, changed = await library.put(conn, scope, body.folder, document)
            generations |= changed
            if body.as_memory and put is not Put.FORGOTTEN:
                # Before the commit: a document that is held was told. The worker waits for it, as `put` holds the lock.
                await telling.publish(services, body.scope, _note(body, document), above=above)
        if put is Put.FORGOTTEN:
            out.forgotten.append(each.path)
            continue
        replaced = replaced or put is Put.REPLACED
        redacted.update(taken.secrets)
        out.kept += 1
        out.sections += len(taken.document.sections)
        out.orders += sum(section.orders is not None for section in taken.document.sections)
        out.cut += [each.path] if taken.cut else []
    if replaced:
        async with services.db.memory(scope) as conn:
            await library.tidy(conn, scope)
    await services.cache.publish(generations)
    return out.model_copy(update={"redacted": dict(redacted)})


@router.post("/v1/library/remove")
async def remove(body: RemoveBody, caller: CallerOf, services: ServicesOf) -> RemovedOut:
    """Take documents out. They may be sent again; what must not come back is forgotten by `POST /v1/forget`."""
    scope = await caller.scope(body.scope)
    async with services.db.memory(scope) as conn:
        removed, generations = await library.remove(conn, scope, body.folder, body.paths)
    await services.cache.publish(generations)
    return RemovedOut(removed=removed)


def _note(body: DocumentsBody, document: Document) -> Event:
    """A document as it tells memory."""
    return telling.event_of(
        body.scope,
        "note",
        to_distil(document),
        session=notes.address(body.folder, document.path),
        at=document.changed_at,
        body={"folder": body.folder, "path": document.path, "hash": document.hash.hex()},
        lane="backfill",
        meta={"platform": "import"} | ({"project": {"name": body.project}} if body.project else {}),
    )
