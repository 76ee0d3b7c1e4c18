"""What waits, runs and ended, and what a person can do about a turn that is stuck."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from nextlevel.event import LANES
from nextlevel.model import TERMINAL_STATES
from nextlevel.store import queues, search
from nextlevel.store.pool import Connection
from nextlevel.store.queues import Wanted

from .access import FormOf, VisitOf
from .pages import HOME, PAGE, clean, link, mark, place, services_of, show
from .words import STAGES

ENDS = tuple(sorted(TERMINAL_STATES))
Piece = Annotated[str | None, Query(max_length=512)]

router = APIRouter()


@router.get("/queues")
async def queue_page(
    request: Request,
    visit: VisitOf,
    view: Annotated[str, Query(pattern="^(waiting|ended)$")] = "waiting",
    state: Piece = None,
    lane: Piece = None,
    session: Piece = None,
    text: Piece = None,
    after: Piece = None,
) -> Response:
    """Turns on their way, oldest first; or those that ended, last first."""
    known = STAGES if view == "waiting" else ENDS
    wanted = Wanted(
        state=state if state in known else None,
        lane=lane if lane in LANES else None,
        session=clean(session),
        text=clean(text),
    )
    read = queues.waiting if view == "waiting" else queues.finished
    async with services_of(request).db.pipeline() as conn:
        await queues.limit_time(conn)
        depths = await queues.depths(conn)
        found = await read(conn, wanted, after=place(after), limit=PAGE + 1)
    page = found[:PAGE]
    by = "received_at" if view == "waiting" else "finished_at"
    more = len(found) > PAGE
    return show(
        request,
        "queues.html",
        view=view,
        wanted=wanted,
        states=known,
        lanes=sorted(LANES),
        depths={each["state"]: each for each in depths},
        turns=page,
        later=link("/queues", view=view, **asdict(wanted), after=mark(page[-1][by], page[-1]["id"])) if more else None,
        first=None if after is None else link("/queues", view=view, **asdict(wanted)),
    )


@router.post("/turns/{turn_id}/release")
async def release(request: Request, turn_id: str, form: FormOf) -> Response:
    """Take a turn from its holder and let it be tried at once."""
    db = services_of(request).db
    async with db.pipeline() as conn:
        await queues.release(conn, await _tenant(conn, turn_id), turn_id)
    return RedirectResponse(link(f"/turns/{turn_id}", done="released"), 303)


@router.get("/turns/{turn_id}/kill")
async def confirm_kill(request: Request, visit: VisitOf, turn_id: str) -> Response:
    return show(request, "kill.html", turn_id=turn_id)


@router.post("/turns/{turn_id}/kill")
async def kill(request: Request, turn_id: str, form: FormOf) -> Response:
    """End a turn as dead."""
    db = services_of(request).db
    async with db.pipeline() as conn:
        await queues.kill(conn, await _tenant(conn, turn_id), turn_id)
    return RedirectResponse(f"{HOME}/turns/{turn_id}?done=killed", 303)


async def _tenant(conn: Connection, turn_id: str) -> UUID:
    return (await search.scope_of_turn(conn, turn_id)).tenant_id
