"""What is known at large, for "what do you know about me?": no memory is like that question, and all answer it."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from functools import cache
from importlib.resources import files

from nextlevel.lang.tokens import fold
from nextlevel.model import Scope
from nextlevel.store import brief as stored
from nextlevel.store.pool import Connection

from .answer import Item
from .brief import last_project
from .render import line

_MOST = 15
_SESSIONS = 5


class About(StrEnum):
    """What an overview is of."""

    ME = "me"
    PROJECT = "project"


def asked(text: str) -> About | None:
    """What a question wants an overview of; None where it asks for something else."""
    folded = " ".join(re.sub(r"[^\w\s]", " ", fold(text)).split())
    return next((about for about, phrases in _phrases().items() if any(each in folded for each in phrases)), None)


async def items(conn: Connection, scope: Scope, about: About, project: str | None, *, now: datetime) -> list[Item]:
    """The blocks of an overview, for a connection of `Database.memory(scope)`.

    `project` None takes that of the last conversation.
    """
    if about is About.ME:
        blocks = await stored.person(conn, scope, limit=_MOST)
    else:
        project = project or last_project(await stored.sessions(conn, scope, but="", limit=_SESSIONS))
        blocks = await stored.states(conn, scope, project, limit=_MOST) if project else []
    return [
        Item(each, None, line(each, now=now), round(each.confidence, 4), {"overview": 1.0}, f"is known about {about}")
        for each in blocks
    ]


@cache
def _phrases() -> dict[About, tuple[str, ...]]:
    lines = (files(__package__) / "overview.txt").read_text("utf-8").splitlines()
    pairs = (each.split(":", 1) for each in lines if not each.startswith("#"))
    return {About(name): tuple(phrase.strip() for phrase in listed.split(",")) for name, listed in pairs}
