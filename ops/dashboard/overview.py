"""The overview: whether memory moves, at a glance, live."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from .access import VisitOf
from .pages import piece, services_of, show
from .pulse import Pulse, Sample

PIECES = ("trouble", "rate", "oldest", "workers", "dead", "latency", "hits", "stream", "stage_0", "stage_1", "stage_2")
LISTS = ("ended", "latest", "outboxes")

router = APIRouter()


@router.get("/")
async def overview(request: Request, visit: VisitOf) -> Response:
    sample = await _pulse(request).sample(services_of(request))
    return show(request, "overview.html", live=render(sample))


@router.get("/live")
async def live(request: Request, visit: VisitOf) -> Response:
    """The overview's pieces as they change, as server-sent events."""
    events = _pulse(request).stream(services_of(request), render)
    return StreamingResponse(events, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


def render(sample: Sample) -> dict[str, str]:
    """Each piece of the page that is renewed alone. What has links in it stays as it is while nothing changes."""
    return {name: piece("live.html", name, sample=sample) for name in (*PIECES, *LISTS)}


def _pulse(request: Request) -> Pulse:
    pulse: Pulse = request.app.state.pulse
    return pulse
