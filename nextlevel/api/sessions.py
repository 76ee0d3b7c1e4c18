"""GET /v1/sessions: a person's conversations, and what each came to."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from nextlevel.store import sessions

from . import cursors
from .access import CallerOf, ScopeQuery
from .services import ServicesOf

router = APIRouter(tags=["memory"])


class SaidOut(BaseModel):
    """A piece of a turn, and when it was said, in the speaker's zone."""

    text: str
    at: datetime


class StateOut(BaseModel):
    """Where a session stood at its end: the last words of either side."""

    user: str
    assistant: str
    at: datetime


class DigestOut(BaseModel):
    """Each text stands in a turn of the session."""

    title: str
    topics: list[str]
    decisions: list[SaidOut]
    open_ends: list[SaidOut]
    state: StateOut


class SessionOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    session: str
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    turns: int
    digest: DigestOut | None = Field(description="Null until the session was idle for half an hour.")


class SessionsOut(BaseModel):
    """One page. `next` is the cursor of the next one; null: this was the last."""

    sessions: list[SessionOut]
    next: str | None


@router.get("/v1/sessions")
async def list_sessions(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    after: Annotated[str | None, Query(max_length=1_000, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> SessionsOut:
    """A profile's conversations, latest first, each with its digest."""
    scope = await caller.scope(of)
    async with services.db.memory(scope) as conn:
        found = await sessions.page(
            conn, scope, before=None if after is None else cursors.read(after, str), limit=limit + 1
        )
    page = found[:limit]
    return SessionsOut(
        sessions=[SessionOut.model_validate(each) for each in page],
        next=cursors.mark(page[-1].last_at, page[-1].session) if len(found) > limit else None,
    )
