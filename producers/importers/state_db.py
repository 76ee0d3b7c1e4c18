"""The host's own session store, read only: the turns that were completed, each once, and those that were taken back.

The agent may write meanwhile. Compaction and branching copy rows, with new time stamps when live, so a copy is known by
its text alone: what is repeated word for word in one conversation counts once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiosqlite

from nextlevel.errors import UnusableFile

FILE = "state.db"
_BUSY_S = 5.0
_NOT_SAID = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT", "Review the conversation above and")

# Scheduled jobs and sub-agents are the agent talking to itself. In a group the rows don't tell who spoke.
_SESSIONS = """
SELECT s.id, s.source, s.user_id, s.session_key, s.chat_id, s.chat_type, s.cwd, s.profile_name, s.parent_session_id,
       json_extract(s.model_config, '$._branched_from') AS branched_from,
       max(m.id) || ':' || coalesce(s.rewind_count, 0) AS mark, max(m.timestamp) AS last_at
  FROM sessions AS s JOIN messages AS m ON m.session_id = s.id
 WHERE s.source NOT IN ('cron', 'subagent', 'tool')
   AND json_extract(coalesce(s.model_config, '{}'), '$._delegate_from') IS NULL
   AND coalesce(s.chat_type, '') IN ('', 'dm', 'private', 'direct')
 GROUP BY s.id ORDER BY s.started_at, s.id
"""
# Never `api_content`: what was recalled stands there.
_MESSAGES = """
SELECT role, content, tool_calls, tool_call_id, timestamp, active OR compacted AS stands
  FROM messages
 WHERE session_id = ? AND coalesce(observed, 0) = 0 AND role IN ('user', 'assistant', 'tool')
 ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One completed turn: the rows from the question on, and the answer. `at` in seconds since the epoch."""

    user: str
    assistant: str
    at: float
    rows: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One session. `mark` changes whenever something was said in it or taken back."""

    session: dict[str, Any]
    mark: str
    last_at: float
    said: tuple[Exchange, ...] = ()
    undone: tuple[Exchange, ...] = ()


@dataclass
class Store:
    """An open state.db. What earlier conversations said is remembered, to know the copies in those that follow them."""

    _db: aiosqlite.Connection
    _told: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    async def sessions(self) -> list[Conversation]:
        """All that count, oldest first, without their turns."""
        rows = await self._db.execute_fetchall(_SESSIONS)
        return [Conversation(dict(row), str(row["mark"]), float(row["last_at"] or 0)) for row in rows]

    async def read(self, found: Conversation) -> Conversation:
        """A conversation with its turns. One that goes on from another must be read after it."""
        rows = [_row(each) for each in await self._db.execute_fetchall(_MESSAGES, (found.session["id"],))]
        before = found.session["branched_from"] or found.session["parent_session_id"] or ""
        inherited = self._told.get(before, set())
        own: dict[tuple[str, str], Exchange] = {}
        for each in _exchanges(row for row in rows if row["stands"]):
            if (each.user, each.assistant) not in inherited:
                own.setdefault((each.user, each.assistant), each)
        self._told[found.session["id"]] = inherited | set(own)
        undone = [each for each in _exchanges(row for row in rows if not row["stands"])]
        gone = {(each.user, each.assistant): each for each in undone}
        left = tuple(each for pair, each in gone.items() if pair not in own)
        return Conversation(found.session, found.mark, found.last_at, tuple(own.values()), left)


@asynccontextmanager
async def opened(home: Path) -> AsyncIterator[Store | None]:
    """The store of a home while the block runs; None where it has none.

    Raises:
        UnusableFile: it can't be read, or has not the tables that we know.
    """
    path = home / FILE
    if not path.exists():
        yield None
        return
    try:
        async with aiosqlite.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_BUSY_S) as db:
            db.row_factory = aiosqlite.Row
            yield Store(db)
    except sqlite3.Error as error:
        raise UnusableFile(f"{path}: {error}; Hermes 0.19 writes what is expected here") from error


def _exchanges(rows: Iterable[dict[str, Any]]) -> list[Exchange]:
    """The questions that were answered; an interrupted or failed turn has no answer before the next question."""
    found: list[Exchange] = []
    turn: list[dict[str, Any]] = []
    for row in [*rows, {"role": "user", "content": ""}]:
        if row["role"] == "user":
            if turn and (exchange := _exchange(turn)) is not None:
                found.append(exchange)
            turn = [row]
        elif turn:
            turn.append(row)
    return found


def _exchange(rows: Sequence[dict[str, Any]]) -> Exchange | None:
    user = rows[0]["content"].strip()
    answers = [row["content"].strip() for row in rows if row["role"] == "assistant" and row["content"].strip()]
    answer = next((each for each in reversed(answers) if not each.startswith(_NOT_SAID)), "")
    if not user or not answer or user.startswith(_NOT_SAID):
        return None
    return Exchange(user, answer, float(rows[0]["timestamp"] or 0), tuple(rows))


def _row(row: sqlite3.Row) -> dict[str, Any]:
    """A row in the form in which the host hands messages over."""
    return {**dict(row), "content": _text(row["content"]), "tool_calls": json.loads(row["tool_calls"] or "[]")}


def _text(content: str | None) -> str:
    """Typed parts are stored as NUL, `json:` and a list."""
    if content is None or not content.startswith("\x00json:"):
        return content or ""
    parts = json.loads(content.removeprefix("\x00json:"))
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict)).strip()
