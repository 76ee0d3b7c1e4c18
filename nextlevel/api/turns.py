"""/v1/turns and /v1/remember: what becomes memory goes onto the stream; what was told can be read by who told it."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from nextlevel.errors import NotFound
from nextlevel.event import Event, base_install, check
from nextlevel.model import TERMINAL_STATES, BlockType
from nextlevel.queue import streams
from nextlevel.safety.harmless import harmless
from nextlevel.safety.markers import strip
from nextlevel.safety.redact import redact
from nextlevel.store import trace, turns

from . import cursors, telling
from .access import CallerOf, ScopeBody, ScopeQuery
from .services import ServicesOf

_POLL_S = 0.05
_PAGE_CHARS = 2_000_000
"""After so many characters a page ends: a single turn may have half a million."""

router = APIRouter(tags=["turns"])


class TurnBody(BaseModel):
    """One turn event, as docs/reference/event.md has it. Its `id` says whose it is."""

    event: dict[str, Any]


class TurnOut(BaseModel):
    id: str
    state: str


@router.post("/v1/turns", status_code=202)
async def publish(body: TurnBody, caller: CallerOf, services: ServicesOf) -> TurnOut:
    """Take a turn from any host. It is safe once its number is under the receipt's mark; until then, keep it."""
    event = check(body.event)
    caller.may_act_for(event.install)
    await streams.publish(services.redis, harmless(event)[0])
    return TurnOut(id=event.id, state="published")


class PastTurnOut(BaseModel):
    """What was said in one turn, without its tools. `turn` is its place in the session, `meta` says where that was."""

    id: str
    fp: str
    session: str
    turn: int
    at: datetime
    user_text: str
    assistant_text: str
    meta: dict[str, Any]


class PastTurnsOut(BaseModel):
    """One page. `next` is the cursor of the next one; null: this was the last."""

    turns: list[PastTurnOut]
    next: str | None


@router.get("/v1/turns")
async def list_turns(
    caller: CallerOf,
    services: ServicesOf,
    of: ScopeQuery,
    after: Annotated[str | None, Query(max_length=1_000, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> PastTurnsOut:
    """What one installation was told by a person under a profile, newest first, for a host that lost its own copy.

    Nothing of which a part was forgotten, taken back or quarantined. A page of long turns ends before its limit.
    """
    scope = await caller.scope(of)
    before = None if after is None else cursors.read(after, str)
    async with services.db.memory(scope) as conn:
        found = await turns.page(conn, scope, base_install(of.install), before=before, limit=limit + 1)
    page: list[PastTurnOut] = []
    chars = 0
    for turn, fp in found[:limit]:
        chars += len(turn.user_text) + len(turn.assistant_text)
        if page and chars > _PAGE_CHARS:
            break
        said = {"user_text": turn.user_text, "assistant_text": turn.assistant_text, "meta": turn.meta}
        page.append(PastTurnOut(id=turn.id, fp=fp, session=turn.session, turn=turn.ordinal, at=turn.at, **said))
    more = len(found) > len(page)
    return PastTurnsOut(turns=page, next=cursors.mark(page[-1].at, page[-1].id) if more else None)


class RememberBody(BaseModel):
    """Something to be remembered, in the person's own words."""

    scope: ScopeBody
    text: str = Field(min_length=1, max_length=4_000)
    type: BlockType | None = Field(default=None, description="Unset: found out from the text.")
    project: str | None = Field(default=None, max_length=200)
    wait_s: float = Field(default=3.0, ge=0, le=30, description="How long to wait for the outcome.")


class RememberOut(BaseModel):
    """`state` is `published` while nobody has taken it in yet; `reason` says why something was not kept."""

    turn: str
    state: str
    reason: str | None = None
    blocks: list[dict[str, Any]] = Field(default_factory=list)


@router.post("/v1/remember", status_code=202)
async def remember(body: RememberBody, caller: CallerOf, services: ServicesOf) -> RememberOut:
    """Remember something on purpose; answers with the blocks that it became, or with the reason why it became none."""
    scope = await caller.scope(body.scope)
    above = await telling.highest(services, body.scope)
    turn_id = await telling.publish(services, body.scope, _event(body), above=above)
    until = time.monotonic() + body.wait_s
    while True:
        async with services.db.memory(scope) as conn:
            try:
                found = await trace.of_turn(conn, scope.tenant_id, turn_id)
            except NotFound:
                found = {"turn": {"state": "published", "reason": None}, "blocks": []}
        if found["turn"]["state"] in TERMINAL_STATES or time.monotonic() >= until:
            break
        await asyncio.sleep(_POLL_S)
    state, reason = found["turn"]["state"], found["turn"]["reason"]
    return RememberOut(turn=turn_id, state=state, reason=reason, blocks=found["blocks"])


def _event(body: RememberBody) -> Event:
    details = {"type": body.type, "project": body.project}
    return telling.event_of(
        body.scope,
        "remember",
        redact(strip(body.text)).text,
        session="api",
        at=datetime.now(UTC),
        body={name: str(value) for name, value in details.items() if value is not None},
        meta={"platform": "api"},
    )
