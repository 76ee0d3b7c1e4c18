"""Who may come in: whoever sits at this machine, and elsewhere whoever has the operator's token.

A request is from this machine if `serve` listens on a loopback address only, the request comes from one, it names one
as its host (a page on the web can make its own name point here, but not change the name), and no proxy passed it on.
Whoever logs in gets a signed session, never the token itself. What changes something must come from our own pages: by
its origin, as the browser tells it, and by a signed stamp in the form.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qsl, quote, urlsplit

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse, Response

from nextlevel.api.services import Services
from nextlevel.auth import OPERATOR, proves, token
from nextlevel.errors import Permanent

from .pages import HOME, services_of, show

COOKIE = "nextlevel_dashboard"
SESSION_S = 12 * 3600
_FORM_S = 12 * 3600
_LONGEST_FORM = 64 * 1024
_PROXIED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")

router = APIRouter()


class LoginNeeded(Exception):
    """Nobody we know. An error of HTTP alone."""


class Refused(Permanent):
    """The request did not come from one of our pages, or too late; nothing was done."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A person who may look. `session` names their login, `here` where there was none; `stamp` signs their forms."""

    session: str
    stamp: str

    @property
    def logged_in(self) -> bool:
        return self.session != "here"


def is_loopback(host: str | None) -> bool:
    """Whether a host, by name or address, is this machine itself.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "localhost.example.org")]
    [True, True, True, False, False]
    """
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_here(request: Request, bound_to: str) -> bool:
    """Whether the request was made on this machine, by somebody who meant us."""
    named = urlsplit(f"//{request.headers.get('host', '')}").hostname
    peer = request.client.host if request.client is not None else None
    proxied = any(name in request.headers for name in _PROXIED)
    return is_loopback(bound_to) and is_loopback(peer) and is_loopback(named) and not proxied


def signed(secret: bytes, purpose: str, lives_s: int) -> str:
    """A value that only we can make, and only for this purpose: when it ends, a random name, the signature."""
    body = f"{int(time.time()) + lives_s}.{secrets.token_urlsafe(12)}"
    return f"{body}.{token(secret, f'dashboard:{purpose}:{body}')}"


def is_signed(secret: bytes, purpose: str, value: str) -> bool:
    """Whether we made it, for this purpose, and its time is not over."""
    body, _, signature = value.rpartition(".")
    until, _, _ = body.partition(".")
    known = hmac.compare_digest(token(secret, f"dashboard:{purpose}:{body}").encode(), signature.encode())
    return known and until.isdecimal() and int(until) > time.time()


async def _visit(request: Request) -> Visit:
    services = services_of(request)
    session = "here"
    if not is_here(request, services.settings.serve_host):
        session = request.cookies.get(COOKIE, "")
        if not is_signed(services.secret, "session", session):
            raise LoginNeeded
    visit = Visit(session, signed(services.secret, f"form:{session}", _FORM_S))
    request.state.visit = visit
    return visit


VisitOf = Annotated[Visit, Depends(_visit)]


async def _form(request: Request, visit: VisitOf) -> dict[str, str]:
    """The fields of a form that one of our own pages sent."""
    _from_here(request)
    fields = await _fields(request)
    if not is_signed(services_of(request).secret, f"form:{visit.session}", fields.get("stamp", "")):
        raise Refused("the form is too old, or was not made here")
    return fields


FormOf = Annotated[dict[str, str], Depends(_form)]


async def _fields(request: Request) -> dict[str, str]:
    raw = await request.body()
    if len(raw) > _LONGEST_FORM:
        raise Refused("the form is too long")
    return dict(parse_qsl(raw.decode("utf-8", "replace"), keep_blank_values=True))


def _from_here(request: Request) -> None:
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    # An old browser tells only one of the two; a program that tells neither has the API.
    ours = origin is not None and urlsplit(origin).netloc == request.headers.get("host")
    if not (ours if site is None else site == "same-origin" and (origin is None or ours)):
        raise Refused("the request came from another site")


@router.get("/login")
async def login_page(request: Request, next: str = "") -> Response:
    return show(request, "login.html", next=_inside(next), wrong=False)


@router.post("/login")
async def login(request: Request) -> Response:
    """Take the operator's token, and give a session for it."""
    _from_here(request)
    services = services_of(request)
    fields = await _fields(request)
    if not proves(services.secret, OPERATOR, fields.get("token", "").strip()):
        return show(request, "login.html", status=401, next=_inside(fields.get("next", "")), wrong=True)
    answer = RedirectResponse(_inside(fields.get("next", "")), 303)
    _give(answer, services, request)
    return answer


@router.post("/logout")
async def logout(request: Request, form: FormOf) -> Response:
    answer = RedirectResponse(f"{HOME}/login", 303)
    answer.delete_cookie(COOKIE, path=HOME, httponly=True, samesite="strict")
    return answer


async def send_to_login(request: Request, error: Exception) -> Response:
    """To the login page and back; a part of a page that asks takes the whole page there."""
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    there = f"{HOME}/login?next={quote(wanted, safe='')}"
    if request.headers.get("hx-request") == "true":
        return Response(status_code=401, headers={"HX-Redirect": there})
    return RedirectResponse(there, 303) if request.method == "GET" else Response(status_code=401)


def _give(answer: Response, services: Services, request: Request) -> None:
    answer.set_cookie(
        COOKIE,
        signed(services.secret, "session", SESSION_S),
        max_age=SESSION_S,
        path=HOME,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )


def _inside(path: str) -> str:
    """A path of ours to go on to, never another site's.

    >>> _inside("/dashboard/memory?scope=1"), _inside("//evil.example/"), _inside("/dashboard/../v1")
    ('/dashboard/memory?scope=1', '/dashboard/', '/dashboard/')
    """
    plain = path.startswith(f"{HOME}/") and not any(odd in path for odd in ("\\", "..", "//", "\r", "\n"))
    return path if plain else f"{HOME}/"
