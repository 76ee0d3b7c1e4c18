"""POST /v1/forget: by id it deletes at once; by query it only shows what it would be."""

from __future__ import annotations

import asyncio
from typing import Self
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator

from nextlevel import receipts
from nextlevel.cache import TRUST_S
from nextlevel.errors import NotFound, QueueUnreachable
from nextlevel.model import Scope
from nextlevel.recall import Mode
from nextlevel.recall import Request as Question
from nextlevel.store import forget

from .access import CallerOf, ScopeBody
from .models import BlockOut
from .services import Services, ServicesOf

router = APIRouter(tags=["memory"])


class ForgetBody(BaseModel):
    """Either the block to forget, or a query to find it by."""

    scope: ScopeBody
    block: UUID | None = None
    query: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.block is None) == (self.query is None):
            raise ValueError("give either `block` or `query`")
        return self


class ForgetOut(BaseModel):
    """`forgotten` are gone for good; `matches` are still there: forget them by their ids."""

    forgotten: list[UUID] = Field(default_factory=list)
    matches: list[BlockOut] = Field(default_factory=list)


@router.post("/v1/forget")
async def forget_memory(body: ForgetBody, caller: CallerOf, services: ServicesOf) -> ForgetOut:
    """Once this has answered, no rung of recall serves what was forgotten."""
    scope = await caller.scope(body.scope)
    if body.block is not None:
        return ForgetOut(forgotten=await delete_block(services, scope, body.block))
    question = Question(
        query=body.query or "",
        install=body.scope.install,
        profile=body.scope.profile,
        principal=body.scope.principal,
        mode=Mode.SEARCH,
        budget_tokens=2_000,
        deadline_ms=None,
    )
    answer = await services.recall.answer(question)
    return ForgetOut(matches=[BlockOut.of(item.block) for item in answer.items if item.block is not None])


async def delete_block(services: Services, scope: Scope, block: UUID) -> list[UUID]:
    """Forget one block for good, and tell the caches; when this has returned, no rung of recall serves it.

    Raises:
        NotFound: no such block in this scope.
    """
    async with services.db.memory(scope) as conn:
        gone = await forget.forget_blocks(conn, scope, [block])
        if not gone.blocks:
            raise NotFound(f"no block {block} in this scope")
        # Before the commit: an answer that is being made now from the old state is kept where nobody looks any more.
        told = await services.cache.publish(gone.generations)
    told = await services.cache.publish(gone.generations) and told
    try:
        await receipts.publish(services.db, services.redis, gone.installs)  # tier 2 hides what was said there
    except QueueUnreachable:
        told = False
    if not told:
        # Redis could not be told, so that another process may believe its copy for as long as this.
        await asyncio.sleep(TRUST_S)
    return list(gone.blocks)
