"""The opening brief: what a session needs to know before it is asked anything, in at most 250 tokens.

Standing rules first, then where the project in focus stands, then what the last sessions were about. Each part has a
share of the budget, so that many rules do not push the project out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Block, Category, Scope
from nextlevel.safety.markers import HEADER, escape
from nextlevel.store import brief as stored
from nextlevel.store import search
from nextlevel.store.brief import PastSession
from nextlevel.store.pool import Connection

from .render import day, line
from .tasks import holds_in

MOST_TOKENS = 250
_RULES_TOKENS, _PROJECT_TOKENS = 110, 70
_RULES, _STATES, _STATES_LOOKED_AT, _SESSIONS = 30, 3, 20, 5
_TITLE_CHARS = 60
_OPEN_ENDS = 2
# What tells where a project stands comes before what else is known of it.
_STANDS = frozenset({"on_branch", "deadline", "goes_live_on", "takes_place_on", "progress", "editing"})
# Rules of how to work come before what the person likes in life.
_LAST = len(Category)
_FIRST = {Category.FORMATTING: 0, Category.WORKFLOW: 1, Category.TECH_STACK: 2, Category.SKILL: 3}


async def compose(conn: Connection, scope: Scope, *, project: str | None, session: str, now: datetime) -> list[str]:
    """The lines of the brief, for a connection of `Database.memory(scope)`; none where nothing is known.

    `project` is the one in focus; None takes that of the last conversation.
    """
    sessions = await stored.sessions(conn, scope, but=session, limit=_SESSIONS)
    project = project or last_project(sessions)
    ids = await stored.rules(conn, scope, as_of=None, limit=_RULES)
    rules = [each.block for each in await search.bodies(conn, scope, ids, None)]
    states = await stored.states(conn, scope, project, limit=_STATES_LOOKED_AT) if project else []
    left = MOST_TOKENS - estimate_tokens(HEADER)
    lines: list[str] = []
    for part, share in (
        ((line(each, now=now) for each in _ordered(rules, project)), _RULES_TOKENS),
        (_project(project, states, sessions, now), _PROJECT_TOKENS),
        (_titles(sessions, now), left),
    ):
        taken = _within(part, min(share, left))
        left -= sum(_cost(each) for each in taken)
        lines += taken
    return list(dict.fromkeys(lines))


def last_project(sessions: Sequence[PastSession]) -> str | None:
    """The project of the last of these conversations that had one."""
    return next((each.project for each in sessions if each.project), None)


def _ordered(rules: Sequence[Block], project: str | None) -> list[Block]:
    """Rules that hold here: those of the project first, then how to work, the surest and newest first."""

    def place(block: Block) -> tuple[Any, ...]:
        ours = block.project is not None and block.project == project
        return not ours, _FIRST.get(block.category, _LAST), not block.explicit, -block.valid_from.timestamp(), block.id

    return sorted((each for each in rules if holds_in(each, project)), key=place)


def _project(
    project: str | None, states: Sequence[Block], sessions: Sequence[PastSession], now: datetime
) -> Iterable[str]:
    """Where the project stands: how its last session ended, what is open, what was told of it last."""
    if project is None:
        return
    last = next((each for each in sessions if each.project == project), None)
    digest = (last.digest if last else None) or {}
    if last is not None and (state := _text(digest.get("state"))):
        yield escape(f"{project}, state on {day(last.last_at, now)}: {state}")
    open_ends = [text for each in (digest.get("open_ends") or [])[:_OPEN_ENDS] if (text := _text(each))]
    if open_ends:
        yield escape(f"{project}, open: {'; '.join(open_ends)}")
    for block in sorted(states, key=lambda block: block.predicate not in _STANDS)[:_STATES]:
        yield line(block, now=now)


def _titles(sessions: Sequence[PastSession], now: datetime) -> Iterable[str]:
    """What the last sessions were about, the latest first, one line each."""
    for each in sessions:
        title = str((each.digest or {}).get("title") or each.first_words)
        title = " ".join(title.split())
        cut = f"{title[:_TITLE_CHARS].rstrip()}…" if len(title) > _TITLE_CHARS else title
        if cut:
            about = f" ({each.project})" if each.project else ""
            yield escape(f"session of {day(each.last_at, now)}{about}: {cut}")


def _text(told: Any) -> str:
    """The text of an entry of a digest, which tells a text alone or with its time."""
    return str(told.get("text") or "") if isinstance(told, dict) else str(told or "")


def _within(lines: Iterable[str], tokens: int) -> list[str]:
    """As many of the lines as fit, each whole; one that is too long leaves room for the next."""
    taken = []
    for each in lines:
        if _cost(each) <= tokens:
            taken.append(each)
            tokens -= _cost(each)
    return taken


def _cost(line: str) -> int:
    return estimate_tokens(line) + 2  # the dash and the line's end
