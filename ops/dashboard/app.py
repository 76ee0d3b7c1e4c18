"""The dashboard as an application of its own, mounted into the service: its routes, its headers, its error pages."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from nextlevel.errors import NextLevelError, NotFound, Transient
from nextlevel.log import get

from . import access, letters, memory, overview, queues, turn
from .headers import SafeHeaders
from .pages import HOME, Failure, show
from .pulse import Pulse

log = get("dashboard")


class Dashboard:
    """What `serve` has of the dashboard: `stop` ends the live streams, which would hold up its end."""

    def __init__(self, pulse: Pulse) -> None:
        self._pulse = pulse

    def stop(self) -> None:
        self._pulse.stop()


def mount(service: FastAPI) -> Dashboard:
    """Put the dashboard under /dashboard of the service, and send whoever asks for / there."""
    app = FastAPI(title="nextlevel dashboard", openapi_url=None)
    app.state.service = service
    app.state.pulse = Pulse()
    for each in (access, overview, queues, letters, turn, memory):
        app.include_router(each.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    for kind in (NextLevelError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _failed)
    app.add_exception_handler(access.LoginNeeded, access.send_to_login)
    app.add_middleware(SafeHeaders)
    service.mount(HOME, app)
    service.add_api_route("/", _home, include_in_schema=False)
    return Dashboard(app.state.pulse)


async def _home() -> RedirectResponse:
    return RedirectResponse(f"{HOME}/")


async def _failed(request: Request, error: Exception) -> Response:
    """Say what went wrong, as a page, with what can be done."""
    failure = _failure(error)
    if failure.status == 500:
        log.error("page_failed", path=request.url.path, exc_info=error)
    return show(request, "failure.html", status=failure.status, failure=failure)


def _failure(error: Exception) -> Failure:
    match error:
        case NotFound():
            return Failure(404, "Not here", str(error), "It may be gone: forgotten, retried or discarded.")
        case access.Refused():
            return Failure(403, "Not accepted", str(error), "Open the page again and repeat what you did.")
        case Transient():
            cure = "Try again in a moment; narrow the search if that is what you did. `nextlevel status` tells more."
            return Failure(503, "A store does not answer", str(error), cure)
        case RequestValidationError():
            places = "; ".join(f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()[:3])
            return Failure(422, "That address is not one of ours", places, "Go back and follow a link.")
        case HTTPException(status_code=404):
            return Failure(404, "No such page", "Nothing has this address.", "Go back and follow a link.")
        case HTTPException():
            return Failure(error.status_code, "That can't be done", str(error.detail), "Go back and follow a link.")
        case NextLevelError():
            return Failure(422, "That can't be done", str(error), "Go back and try something else.")
        case _:
            return Failure(500, "Something went wrong here", "It is our fault.", "The log of `serve` has the details.")
