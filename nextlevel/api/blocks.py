"""GET /v1/blocks, GET /v1/blocks/{id}/history, GET /v1/graph: memory to look at."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel

from nextlevel.errors import NotFound
from nextlevel.lang.normal import normal_name
from nextlevel.model import BlockStatus, BlockType, Category, EntityType, Scope
from nextlevel.store import search
from nextlevel.store.search import Cursor

from . import cursors
from .access import CallerOf, ScopeQuery
from .models import BlockOut
from .services import Services, ServicesOf

router = APIRouter(tags=["memory"])


class BlocksOut(BaseModel):
    """One page. `next` is the cursor of the next one; null: this was the last."""

    blocks: list[BlockOut]
    next: str | None


class SourceOut(BaseModel):
    """A turn that says so, by which words. Where an imported document says it, `document` is its address."""

    turn_id: str
    span: str
    at: datetime
    document: str | None


class ChangeOut(BaseModel):
    version: int
    change: str
    caused_by: str
    changed_at: datetime
    before: dict[str, Any]


class PastOut(BaseModel):
    block: BlockOut
    changes: list[ChangeOut]
    sources: list[SourceOut]


class HistoryOut(BaseModel):
    """A fact through time, oldest first."""

    history: list[PastOut]


class EdgeOut(BaseModel):
    """A block's relation, or a document's link: then `document` is its path, and there is no block."""

    block_id: UUID | None
    document_id: UUID | None
    document: str | None
    predicate: str
    valid_from: datetime
    subject_id: UUID
    subject: str
    subject_type: EntityType
    object_id: UUID
    object: str
    object_type: EntityType


class GraphOut(BaseModel):
    edges: list[EdgeOut]


@router.get("/v1/blocks")
async def blocks(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    status: Annotated[list[BlockStatus] | None, Query()] = None,
    type: BlockType | None = None,
    category: Category | None = None,
    entity: Annotated[str | None, Query(max_length=200, description="A name of what the blocks speak of.")] = None,
    valid_at: AwareDatetime | None = None,
    known_at: Annotated[AwareDatetime | None, Query(description="Blocks as they were known at that moment.")] = None,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> BlocksOut:
    """Blocks, newest first, page by page."""
    scope = await caller.scope(of)
    about = None if entity is None else await _entity(services, scope, entity)
    async with services.db.memory(scope) as conn:
        found = await search.page(
            conn,
            scope,
            statuses=status,
            type=type,
            category=category,
            entity=about,
            valid_at=valid_at,
            known_at=known_at,
            after=None if after is None else Cursor(*cursors.read(after, UUID)),
            limit=limit + 1,
        )
    page = found[:limit]
    more = len(found) > limit
    return BlocksOut(
        blocks=[BlockOut.of(block) for block in page],
        next=cursors.mark(page[-1].created_at, page[-1].id) if more else None,
    )


@router.get("/v1/blocks/{block_id}/history")
async def history(block_id: UUID, caller: CallerOf, services: ServicesOf, of: ScopeQuery) -> HistoryOut:
    """What a fact was before, what it became, who changed it, and the words each state stands on."""
    scope = await caller.scope(of)
    async with services.db.memory(scope) as conn:
        line = await search.history(conn, scope, block_id)
    return HistoryOut(history=[PastOut(**(each | {"block": BlockOut.of(each["block"])})) for each in line])


@router.get("/v1/graph")
async def graph(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    entity: Annotated[str | None, Query(max_length=200, description="Only what is near this.")] = None,
    hops: Annotated[int, Query(ge=1, le=3, description="How many steps away from `entity`.")] = 2,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 200,
) -> GraphOut:
    """Who and what is related, by which facts and by which documents."""
    scope = await caller.scope(of)
    around = None if entity is None else await _entity(services, scope, entity)
    async with services.db.memory(scope) as conn:
        edges = await search.graph(conn, scope, around=around, hops=hops, limit=limit)
    return GraphOut(edges=[EdgeOut(**edge) for edge in edges])


async def _entity(services: Services, scope: Scope, name: str) -> UUID:
    async with services.db.memory(scope) as conn:
        found = await search.named(conn, scope, [normal_name(name)])
    if not found:
        raise NotFound(f"nothing in this scope is called {name!r}")
    return found[0][1]
