"""Dead letters: what died or was refused, why, what helps, and a decision over one or over all that fit a filter."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from nextlevel.api import dead
from nextlevel.errors import NotFound
from nextlevel.store import letters, queues
from nextlevel.store.letters import Chosen
from nextlevel.store.queues import COUNTED

from .access import FormOf, Refused, VisitOf
from .cures import cure
from .pages import PAGE, clean, link, services_of, show

DEEDS = {"retry": dead.retry_one, "discard": dead.discard_one}
Piece = Annotated[str | None, Query(max_length=512)]
Deed = Annotated[str, Query(pattern="^(retry|discard)$")]

router = APIRouter()


@router.get("/dead")
async def dead_page(
    request: Request,
    visit: VisitOf,
    kind: Piece = None,
    code: Piece = None,
    text: Piece = None,
    after: Annotated[int | None, Query(ge=1)] = None,
    done: Piece = None,
) -> Response:
    """Dead letters, newest first."""
    chosen = _chosen(kind, code, text)
    async with services_of(request).db.pipeline() as conn:
        await queues.limit_time(conn)
        codes = await letters.codes(conn, most=COUNTED + 1)
        count = await letters.count(conn, chosen, most=COUNTED + 1)
        found = await letters.page(conn, chosen, after=after, limit=PAGE + 1)
    page = found[:PAGE]
    query = _query(chosen)
    return show(
        request,
        "dead.html",
        chosen=chosen,
        codes=codes,
        count=count,
        letters=[_told(each) for each in page],
        query=query,
        done=done if done in DEEDS else None,
        later=link("/dead", **query, after=page[-1]["dead_letter_id"]) if len(found) > PAGE else None,
        first=None if after is None else link("/dead", **query),
    )


@router.get("/dead/decide")
async def preview(
    request: Request, visit: VisitOf, deed: Deed, kind: Piece = None, code: Piece = None, text: Piece = None
) -> Response:
    """How many a decision is about, before it is taken."""
    chosen = _chosen(kind, code, text)
    async with services_of(request).db.pipeline() as conn:
        await queues.limit_time(conn)
        count = await letters.count(conn, chosen, most=COUNTED + 1)
        examples = await letters.page(conn, chosen, limit=5)
    return show(
        request,
        "decide.html",
        deed=deed,
        chosen=chosen,
        count=count,
        examples=[_told(each) for each in examples],
        query=_query(chosen),
    )


@router.post("/dead/decide")
async def decide(request: Request, form: FormOf) -> Response:
    """Act on every letter that fits, up to the newest one that was counted."""
    deed, up_to = form.get("deed", ""), form.get("up_to", "")
    if deed not in DEEDS or not up_to.isdecimal():
        raise Refused("the form does not say what to do")
    chosen = _chosen(form.get("kind"), form.get("code"), form.get("text"), int(up_to))
    decision = await dead.decide(services_of(request), chosen, DEEDS[deed])
    return show(request, "decided.html", deed=deed, decision=decision, query=_query(chosen))


@router.post("/dead/{letter_id}/{deed}")
async def decide_one(request: Request, letter_id: int, deed: str, form: FormOf) -> Response:
    """Act on one letter; to its turn, if a dead turn begins anew."""
    if deed not in DEEDS:
        raise NotFound(f"nothing is called {deed!r} here")
    decision = await dead.decide_one(services_of(request), letter_id, DEEDS[deed])
    if decision.left:
        return show(request, "decided.html", status=409, deed=deed, decision=decision, query={})
    turn = form.get("turn", "")
    if deed == "retry" and turn:
        return RedirectResponse(link(f"/turns/{quote(turn, safe=':')}", done="retried"), 303)
    return RedirectResponse(link("/dead", done=deed), 303)


def _chosen(kind: str | None, code: str | None, text: str | None, up_to: int | None = None) -> Chosen:
    return Chosen(kind if kind in ("dead", "quarantined") else None, clean(code), clean(text), up_to)


def _query(chosen: Chosen) -> dict[str, str]:
    parts = {"kind": chosen.kind, "code": chosen.code, "text": chosen.text}
    return {name: value for name, value in parts.items() if value is not None}


def _told(letter: dict[str, Any]) -> dict[str, Any]:
    """A letter with the words for it: what to do, the last line of its reason, its input as text."""
    raw = letter["input"]
    lines = letter["reason"].strip().splitlines() or [letter["code"]]
    return letter | {
        "cure": cure(letter["kind"], letter["code"]),
        "headline": lines[-1][:300],
        "traceback": letter["reason"] if len(lines) > 1 else None,
        "raw": None if raw is None else raw[:4_000].decode("utf-8", "replace"),
        "raw_cut": 0 if raw is None else max(0, len(raw) - 4_000),
        "waits": letter["kind"] == "dead" and letter["state"] == "dead",
    }
