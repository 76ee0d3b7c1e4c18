"""One turn's whole way: what was said, what each step did, what it became, and who was shown it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from nextlevel.model import TERMINAL_STATES, block_text
from nextlevel.store import letters, queues, recalls, search, trace

from .access import VisitOf
from .cures import cure
from .pages import services_of, show

DONE = {
    "released": "Released. It is tried again within a second; what its former holder still writes is refused.",
    "killed": "Ended. It is among the dead letters, from where it can be retried.",
    "retried": "Retried. It begins anew, as if it had just come in.",
}
_MOST_RECALLS = 50

router = APIRouter()


@router.get("/turns/{turn_id}")
async def turn_page(
    request: Request, visit: VisitOf, turn_id: str, done: Annotated[str | None, Query(max_length=20)] = None
) -> Response:
    """From event to blocks to the recalls that showed them."""
    services = services_of(request)
    async with services.db.pipeline() as conn:
        scope = await search.scope_of_turn(conn, turn_id)
        dead = await letters.of_turn(conn, scope.tenant_id, turn_id)
        waits_for = await queues.waits_for(conn, scope.tenant_id, turn_id)
    async with services.db.memory(scope) as conn:
        found = await trace.of_turn(conn, scope.tenant_id, turn_id)
        ids = [block["block_id"] for block in found["blocks"]]
        shown = (
            await recalls.showing(conn, scope, ids, since=found["turn"]["received_at"], limit=_MOST_RECALLS)
            if ids
            else []
        )
    turn = found["turn"]
    sentences = {str(block["block_id"]): _sentence(block) for block in found["blocks"]}
    return show(
        request,
        "turn.html",
        turn=turn | waits_for,
        scope=scope,
        moving=turn["state"] not in TERMINAL_STATES,
        events=_with_pauses(found["events"]),
        blocks=[block | {"sentence": sentences[str(block["block_id"])]} for block in found["blocks"]],
        recalls=[each | {"blocks": _named(each["shown"], sentences)} for each in shown],
        letters=[each | {"cure": cure(each["kind"], each["code"])} for each in dead],
        done=DONE.get(done or ""),
    )


def _sentence(block: dict[str, Any]) -> str:
    return block_text(block["subject"], block["predicate"], block["object"], negated=block["negated"])


def _with_pauses(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each step with the seconds since the one before."""
    before = [None, *(event["at"] for event in events)]
    return [
        event | {"after_s": None if last is None else (event["at"] - last).total_seconds()}
        for event, last in zip(events, before, strict=False)
    ]


def _named(shown: list[dict[str, Any]], sentences: dict[str, str]) -> list[dict[str, Any]]:
    """Those of a recall's blocks that are this turn's, with their place in the answer."""
    return [
        {"id": each["block"], "place": place, "score": each["score"], "sentence": sentences[each["block"]]}
        for place, each in enumerate(shown, 1)
        if each["block"] in sentences
    ]
