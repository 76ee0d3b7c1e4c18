"""Our errors as HTTP, in one place: `{"error": {"code": …, "message": …}}`, whatever went wrong."""

from __future__ import annotations

from fastapi import FastAPI, Request
from fastapi.encoders import jsonable_encoder
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from nextlevel.errors import (
    Conflict,
    MalformedEvent,
    Misconfigured,
    NextLevelError,
    NotFound,
    ScopeDenied,
    Transient,
    UnknownInstallation,
)
from nextlevel.log import get

from .access import Unauthenticated

log = get("api")

# The first that fits. A Transient is "come back later", so hosts may keep their work and try again.
STATUS: tuple[tuple[type[NextLevelError], int, str], ...] = (
    (ScopeDenied, 403, "scope_denied"),
    (UnknownInstallation, 403, "unknown_installation"),
    (NotFound, 404, "not_found"),
    (Conflict, 409, "conflict"),
    (MalformedEvent, 422, "malformed_event"),
    (Misconfigured, 503, "misconfigured"),
    (Transient, 503, "unavailable"),
)
_HTTP_CODES = {404: "not_found", 405: "method_not_allowed"}


def install(app: FastAPI) -> None:
    """Let the app answer each of our errors, each of HTTP's, and what nobody expected."""
    app.add_exception_handler(NextLevelError, _ours)
    app.add_exception_handler(Unauthenticated, _unauthenticated)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _bug)


def refusal(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error as every client gets it."""
    return JSONResponse({"error": {"code": code, "message": message}}, status_code=status, headers=headers)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    for kind, status, code in STATUS:
        if isinstance(error, kind):
            headers = {"Retry-After": "1"} if status == 503 else None
            detail = error.code if isinstance(error, MalformedEvent) else code
            return refusal(status, detail, str(error), headers)
    return await _bug(request, error)


async def _unauthenticated(request: Request, error: Exception) -> JSONResponse:
    message = "send `Authorization: Bearer <token>`: an installation's token, or the operator's"
    return refusal(401, "unauthenticated", message, {"WWW-Authenticate": "Bearer"})


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    problems = error.errors() if isinstance(error, RequestValidationError) else []
    # Where and what is wrong, never what was sent: it may be a secret, or a megabyte.
    places = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in problems[:5]]
    return refusal(422, "invalid_request", "; ".join(jsonable_encoder(places)))


async def _http(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    message = str(error.detail) if isinstance(error, HTTPException) else "error"
    return refusal(status, _HTTP_CODES.get(status, "http_error"), message)


async def _bug(request: Request, error: Exception) -> JSONResponse:
    log.error("request_failed", path=request.url.path, exc_info=error)
    return refusal(500, "internal", "something went wrong here; the log has the details")
