"""What every page is made with: the templates, the words of times and numbers, the way back to the services."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from nextlevel.api.services import Services
from nextlevel.errors import NotFound
from nextlevel.store.queues import COUNTED, Place

from . import words

HOME = "/dashboard"
PAGE = 50


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong, in words, and what can be done."""

    status: int
    title: str
    message: str
    cure: str


def services_of(request: Request) -> Services:
    services: Services = request.app.state.service.state.services
    return services


def show(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page. `visit` is None where nobody is known yet: on the login page, and where the way in failed."""
    visit = getattr(request.state, "visit", None)
    text = TEMPLATES.get_template(template).render(visit=visit, path=request.url.path, **values)
    return HTMLResponse(text, status_code=status)


def piece(template: str, name: str, **values: Any) -> str:
    """One macro of a template, for a part of a page that is renewed alone."""
    made: str = getattr(TEMPLATES.get_template(template).module, name)(**values)
    return made


def link(path: str, **query: Any) -> str:
    """An address of ours; what is None or empty is left out.

    >>> link("/queues", state="dead", lane=None, session="a/b'c")
    '/dashboard/queues?state=dead&session=a%2Fb%27c'
    """
    told = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{HOME}{path}" + (f"?{urlencode(told)}" if told else "")


def mark(at: datetime, id: str) -> str:
    """Where a page ended, as a part of an address."""
    return f"{at.isoformat()}~{id}"


def place(mark: str | None) -> Place | None:
    """Where a page is to go on.

    Raises:
        NotFound: it is no mark of ours.
    """
    if not mark:
        return None
    at, _, id = mark.partition("~")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise NotFound("there is no such page") from error
    if moment.tzinfo is None or not id:
        raise NotFound("there is no such page")
    return Place(moment, id)


def clean(text: str | None) -> str | None:
    """What was typed into a field; None where nothing was. Postgres takes no NUL."""
    told = (text or "").replace("\x00", "").strip()
    return told or None


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,  # always: every text here was written by somebody else
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(
        age=words.age,
        since=lambda moment: words.since(moment, datetime.now(UTC)),
        stamp=words.stamp,
        number=words.number,
        share=words.share,
        ms=words.ms,
        fact=words.fact,
        marked=words.marked,
        chart=words.chart,
        shares=words.shares,
    )
    made.globals.update(link=link, home=HOME, counted=COUNTED, now=lambda: datetime.now(UTC), stages=words.STAGES)
    return made


TEMPLATES = _environment()
