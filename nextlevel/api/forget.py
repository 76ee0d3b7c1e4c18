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
from nextlevel.store import forget, library

from .access import CallerOf, ScopeBody
from .models import BlockOut
from .services import Services, ServicesOf

router = APIRouter(tags=["memory"])


class ForgetBody(BaseModel):
    """The block or the document to forget, or a query to find them by."""

    scope: ScopeBody
    block: UUID | None = None
    document: UUID | None = None
    query: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_of_three(self) -> Self:
        if [self.block, self.document, self.query].count(None) != 2:
            raise ValueError("give one of `block`, `document` and `query`")
        return self


class MatchingDocumentOut(BaseModel):
    """A document of the library that says what is to be forgotten."""

    id: UUID
    folder: str
    path: str


class ForgetOut(BaseModel):
    """`forgotten` are gone for good; `matches` and `documents` are still there: forget them by their ids."""

    forgotten: list[UUID] = Field(default_factory=list)
    matches: list[BlockOut] = Field(default_factory=list)
    documents: list[MatchingDocumentOut] = Field(default_factory=list)


@router.post("/v1/forget")
async def forget_memory(body: ForgetBody, caller: CallerOf, services: ServicesOf) -> ForgetOut:
    """Once this has answered, no rung of recall serves what was forgotten."""
    scope = await caller.scope(body.scope)
    if body.block is not None:
        return ForgetOut(forgotten=await delete_block(services, scope, body.block))
    if body.document is not None:
        return ForgetOut(forgotten=await _delete_document(services, scope, body.document))
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
    documents = {
        item.document.id: MatchingDocumentOut(id=item.document.id, folder=item.document.folder, path=item.document.path)
        for item in answer.items
        if item.document is not None
    }
    return ForgetOut(
        matches=[BlockOut.of(item.block) for item in answer.items if item.block is not None],
        documents=list(documents.values()),
    )


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


async def _delete_document(services: Services, scope: Scope, document: UUID) -> list[UUID]:
    """Take a document out of the library for good: importing its folder again leaves it out.

    Raises:
        NotFound: no such document in this scope.
    """
    async with services.db.memory(scope) as conn:
        generations = await library.forget_document(conn, scope, document)
        if not generations:
            raise NotFound(f"no document {document} in this scope")
    # No cache keeps an answer to a search: only one that is being made now may still hold it.
    await services.cache.publish(generations)
    return [document]
