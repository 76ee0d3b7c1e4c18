"""Memory of one scope: blocks by filter, and one block with its sources, its past, and the way to forget it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from nextlevel.api.forget import delete_block
from nextlevel.lang.normal import normal_name
from nextlevel.model import Block, BlockStatus, BlockType, block_text
from nextlevel.store import recalls, scopes, search
from nextlevel.store.pool import Connection
from nextlevel.store.queues import limit_time
from nextlevel.store.scopes import Person
from nextlevel.store.search import Cursor

from .access import FormOf, VisitOf
from .pages import PAGE, clean, link, mark, place, services_of, show

STATUSES = tuple(each for each in BlockStatus if each is not BlockStatus.FORGOTTEN)
_MOST_PEOPLE = 500
_MOST_SOURCES = 20
Piece = Annotated[str | None, Query(max_length=512)]

router = APIRouter()


@router.get("/memory")
async def memory_page(
    request: Request,
    visit: VisitOf,
    scope: UUID | None = None,
    type: Piece = None,
    status: Piece = None,
    entity: Piece = None,
    text: Piece = None,
    known_at: Piece = None,
    after: Piece = None,
    done: Piece = None,
) -> Response:
    """The blocks of one person under one profile, newest first; with a day, as they were `known_at` its end."""
    services = services_of(request)
    async with services.db.pipeline() as conn:
        people = await scopes.people(conn, limit=_MOST_PEOPLE)
        whose = people[0] if scope is None and people else None
        if scope is not None:
            whose = await scopes.person(conn, scope)
    told = {
        "type": type if type in list(BlockType) else None,
        "status": status if status in STATUSES else None,
        "entity": clean(entity),
        "text": clean(text),
        "known_at": _day(known_at),
    }
    moment = _end_of(told["known_at"])
    found: list[Block] = []
    if whose is not None:
        async with services.db.memory(whose.scope) as conn:
            await limit_time(conn)
            found = await _blocks(conn, whose, told, moment, after)
    page = found[:PAGE]
    query = {"scope": whose.scope.profile_scope if whose else None, **told}
    return show(
        request,
        "memory.html",
        people=people,
        whose=whose,
        told=told,
        types=list(BlockType),
        statuses=STATUSES,
        blocks=[_told(block, moment) for block in page],
        later=link("/memory", **query, after=mark(page[-1].created_at, str(page[-1].id)))
        if len(found) > PAGE
        else None,
        first=None if after is None else link("/memory", **query),
        forgotten=done == "forgotten",
    )


@router.get("/memory/{scope}/{block_id}")
async def block_page(request: Request, visit: VisitOf, scope: UUID, block_id: UUID) -> Response:
    """One block: what it says, what it stands on, what it replaced and what replaced it, who was shown it."""
    whose, line, block = await _block(request, scope, block_id)
    async with services_of(request).db.memory(whose.scope) as conn:
        sources = await search.sources_in_context(conn, whose.scope, block_id, limit=_MOST_SOURCES)
        entities = await search.entities_of(conn, whose.scope, block_id)
        shown = await recalls.showing(conn, whose.scope, [block_id], since=block.created_at, limit=20)
    return show(
        request,
        "block.html",
        whose=whose,
        block=_told(block),
        line=[each | {"block": _told(each["block"]), "this": each["block"].id == block_id} for each in line],
        sources=sources,
        entities=entities,
        recalls=shown,
    )


@router.get("/memory/{scope}/{block_id}/forget")
async def confirm_forget(request: Request, visit: VisitOf, scope: UUID, block_id: UUID) -> Response:
    """Name what would go, before it goes."""
    whose, line, block = await _block(request, scope, block_id)
    sources = next(each["sources"] for each in line if each["block"].id == block_id)
    return show(request, "forget.html", whose=whose, block=_told(block), sources=sources)


@router.post("/memory/{scope}/{block_id}/forget")
async def forget(request: Request, scope: UUID, block_id: UUID, form: FormOf) -> Response:
    """Forget a block for good. Once this has answered, no recall gives it."""
    services = services_of(request)
    async with services.db.pipeline() as conn:
        whose = await scopes.person(conn, scope)
    await delete_block(services, whose.scope, block_id)
    return RedirectResponse(link("/memory", scope=scope, done="forgotten"), 303)


async def _blocks(
    conn: Connection, whose: Person, told: dict[str, Any], known_at: datetime | None, after: str | None
) -> list[Block]:
    about = None
    if told["entity"] is not None:
        named = await search.named(conn, whose.scope, [normal_name(told["entity"])])
        if not named:
            return []
        about = named[0][1]
    start = place(after)
    return await search.page(
        conn,
        whose.scope,
        statuses=None if told["status"] is None else [told["status"]],
        type=told["type"],
        entity=about,
        text=told["text"],
        known_at=known_at,
        after=None if start is None else Cursor(start.at, UUID(start.id)),
        limit=PAGE + 1,
    )


async def _block(request: Request, scope: UUID, block_id: UUID) -> tuple[Person, list[dict[str, Any]], Block]:
    db = services_of(request).db
    async with db.pipeline() as conn:
        whose = await scopes.person(conn, scope)
    async with db.memory(whose.scope) as conn:
        line = await search.history(conn, whose.scope, block_id)
    return whose, line, next(each["block"] for each in line if each["block"].id == block_id)


def _day(text: str | None) -> str | None:
    """A day as a field gives it; None where it is none."""
    try:
        return date.fromisoformat(clean(text) or "").isoformat()
    except ValueError:
        return None


def _end_of(day: str | None) -> datetime | None:
    """A day's last moment, by the clock that the pages show: UTC."""
    return None if day is None else datetime.combine(date.fromisoformat(day), time.max, UTC)


def _told(block: Block, at: datetime | None = None) -> dict[str, Any]:
    """A block as a page names it, now or as of a moment."""
    at = at or datetime.now(UTC)
    return {
        "block": block,
        "sentence": block_text(block.subject, block.predicate, block.object, negated=block.negated),
        "holds": block.status is BlockStatus.ACTIVE and (block.valid_to is None or block.valid_to > at),
    }
