"""POST /v1/feedback: a block was of use, or is wrong."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from fastapi import APIRouter
from pydantic import BaseModel, Field

from nextlevel.model import Verdict
from nextlevel.store import feedback

from .access import CallerOf, ScopeBody
from .services import ServicesOf

router = APIRouter(tags=["memory"])


class FeedbackBody(BaseModel):
    scope: ScopeBody
    block: UUID
    verdict: Verdict | Literal["none"] = Field(description="`none` takes back what was said before.")


class FeedbackOut(BaseModel):
    block: UUID
    verdict: Verdict | Literal["none"]


@router.post("/v1/feedback")
async def give_feedback(body: FeedbackBody, caller: CallerOf, services: ServicesOf) -> FeedbackOut:
    """Move a block's place in recall a little: up if it was of use, down if it is wrong. The last verdict counts.

    It stays in memory, whatever is said of it: what must go is to be forgotten.
    """
    scope = await caller.scope(body.scope)
    async with services.db.memory(scope) as conn:
        verdict = None if body.verdict == "none" else body.verdict
        generations = await feedback.judge(conn, scope, body.block, verdict)
    await services.cache.publish(generations)
    return FeedbackOut(block=body.block, verdict=body.verdict)
