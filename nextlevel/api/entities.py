"""/v1/entities: GET shows one, /discussed what was said of it; POST /merge joins two, /split takes them apart."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, Field

from nextlevel.model import EntityType, Scope
from nextlevel.store import entities, merges
from nextlevel.store.entities import LONGEST_NAME
from nextlevel.store.merges import Entity

from .access import CallerOf, ScopeBody, ScopeQuery
from .services import Services, ServicesOf

router = APIRouter(tags=["memory"])

MOST_BLOCKS = 1_000

Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


class MergeBody(BaseModel):
    """`merge` becomes another name of `keep`. `type` is of both, where a name has several bearers."""

    scope: ScopeBody
    keep: Name
    merge: Name
    type: EntityType | None = None


class SplitBody(BaseModel):
    """`name` becomes itself again; where it never was, the `blocks` that are about it are given to a new entity."""

    scope: ScopeBody
    entity: Name
    name: Name
    type: EntityType | None = None
    blocks: list[UUID] = Field(default_factory=list, max_length=MOST_BLOCKS)


class MergeOut(BaseModel):
    """What was merged into an entity, or split off it, and when."""

    name: str
    merged_at: datetime | None
    split_at: datetime | None


class EntityOut(BaseModel):
    """`aliases` are in normal form; `blocks` counts those of this scope that speak of it; `merges` are its past."""

    id: UUID
    name: str
    type: EntityType
    aliases: list[str]
    blocks: int
    merges: list[MergeOut]

    @classmethod
    def of(cls, entity: Entity) -> EntityOut:
        past = [MergeOut(name=each.name, merged_at=each.merged_at, split_at=each.split_at) for each in entity.merges]
        return cls(
            id=entity.id,
            name=entity.name,
            type=entity.type,
            aliases=list(entity.aliases),
            blocks=entity.blocks,
            merges=past,
        )


class SaidOut(BaseModel):
    """Words of a turn that speak of an entity."""

    session: str
    turn_id: str
    at: datetime
    span: str


class DiscussedOut(BaseModel):
    said: list[SaidOut]


@router.get("/v1/entities/discussed")
async def discussed(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    type: EntityType | None = None,
    since: AwareDatetime | None = None,
    before: AwareDatetime | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DiscussedOut:
    """What was said of an entity, newest first, and in which sessions."""
    scope = await caller.scope(of)
    async with services.db.memory(scope) as conn:
        entity = await merges.find(conn, scope, name, type)
        found = await entities.discussed(conn, scope, entity, since=since, before=before, limit=limit)
    return DiscussedOut(said=[SaidOut(**each) for each in found])


@router.get("/v1/entities")
async def show(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME)],
    type: EntityType | None = None,
) -> EntityOut:
    """One entity, by any of its names."""
    scope = await caller.scope(of)
    async with services.db.memory(scope) as conn:
        return EntityOut.of(await merges.show(conn, scope, await merges.find(conn, scope, name, type)))


@router.post("/v1/entities/merge")
async def merge(body: MergeBody, caller: CallerOf, services: ServicesOf) -> EntityOut:
    """Two entities are one from here on, in all profiles of the person. `split` takes it back."""
    scope = await caller.scope(body.scope)
    async with services.db.memory(scope) as conn:
        kept = await merges.find(conn, scope, body.keep, body.type)
        merged = await merges.find(conn, scope, body.merge, body.type)
        generations = await merges.merge(conn, scope, kept, merged)
    await _tell(services, generations)
    return await _shown(services, scope, kept)


@router.post("/v1/entities/split")
async def split(body: SplitBody, caller: CallerOf, services: ServicesOf) -> EntityOut:
    """The entity that was split off. `merge` takes it back."""
    scope = await caller.scope(body.scope)
    async with services.db.memory(scope) as conn:
        entity = await merges.find(conn, scope, body.entity, body.type)
        generations = await merges.split(conn, scope, entity, body.name, body.blocks)
        off = await merges.find(conn, scope, body.name, body.type)
    await _tell(services, generations)
    return await _shown(services, scope, off)


async def _tell(services: Services, generations: merges.Generations) -> None:
    if generations:
        await services.cache.publish(generations)


async def _shown(services: Services, scope: Scope, entity: UUID) -> EntityOut:
    async with services.db.memory(scope) as conn:
        return EntityOut.of(await merges.show(conn, scope, entity))
