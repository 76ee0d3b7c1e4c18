"""After a rescue: turns that Postgres holds and the new file lacks come back, each person's page by page, newest first.

How far that is stands in the file, written with each page: who breaks off goes on there, and of two processes that ask
for the same page one finds it taken.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nextlevel.event import Event, fingerprint, moment

from . import sql
from .database import Database
from .kept import kept
from .outbox import columns, off_record, terms
from .rescue import REFILL
from .retention import KEPT_DAYS, KEPT_SESSIONS

Progress = dict[str, Any]
_BEGINNING: Progress = {"after": None, "sessions": [], "turns": 0, "done": False}


@dataclass(frozen=True, slots=True)
class Due:
    """Whose turns are to be asked for, and behind which cursor; None: from the newest."""

    profile: str
    principal: str
    after: str | None

    @property
    def key(self) -> str:
        return json.dumps([self.profile, self.principal])


@dataclass(frozen=True, slots=True)
class Past:
    """A turn as the service tells it; `chat` names the group chat it was said in, None elsewhere."""

    event: Event
    chat: str | None


def due(database: Database) -> Due | None:
    """The next page to ask for; None where nothing is missing any more, or nothing can be asked for yet.

    While an order to forget or to take back is not delivered, what it is about could come back.

    Raises:
        ShortTermUnavailable: tier 2 can't be read.
    """
    with database.reading() as connection:
        progress = _progress(connection)
        if progress is None or connection.execute(sql.ORDERS_WAITING).fetchone():
            return None
        return _next(connection, progress)


def take(database: Database, asked: Due, page: Sequence[Past], after: str | None, *, now: float | None = None) -> int:
    """Keep what the file lacks of a page, as far as retention would; how many turns that were.

    `after` is the cursor of the next page, None where this is the last.

    Raises:
        ShortTermUnavailable: tier 2 can't be written.
    """
    now = time.time() if now is None else now
    # Cut into words before the transaction, which others wait for.
    ready = [(past, kept(past.event), terms(past.event)) for past in page]
    with database.transaction() as connection:
        progress = _progress(connection)
        so_far: Progress = (progress or {}).get(asked.key) or _BEGINNING
        if progress is None or so_far["done"] or so_far["after"] != asked.after:
            return 0
        sessions, added = [*so_far["sessions"]], 0
        for past, event, found in ready:
            if past.event.session not in sessions and len(sessions) < KEPT_SESSIONS:
                sessions.append(past.event.session)
            if moment(past.event.at).timestamp() < now - KEPT_DAYS * 86_400 and past.event.session not in sessions:
                after = None
                break
            row = _row(connection, database, past, now)
            if row is not None:
                connection.execute(sql.KEEP_EVENT, {"row": row, "event": event})
                connection.execute(sql.ADD_WORDS, {"row": row, **found})
                added += 1
        turns, done = so_far["turns"] + added, after is None
        progress[asked.key] = {"after": after, "sessions": [] if done else sessions, "turns": turns, "done": done}
        connection.execute(sql.SET_NOTE, {"name": REFILL, "value": json.dumps(progress, ensure_ascii=False)})
    return added


def told(database: Database) -> str | None:
    """What a person is told of it; None in a file that never was damaged.

    Raises:
        ShortTermUnavailable: tier 2 can't be read.
    """
    with database.reading() as connection:
        progress = _progress(connection)
        if progress is None:
            return None
        more = _next(connection, progress) is not None
    turns = sum(each["turns"] for each in progress.values() if each)
    came = f"{turns} turns that it lacked came back from the memory service"
    return f"{came} so far; the rest is asked for as soon as that answers" if more else came


def _progress(connection: sqlite3.Connection) -> dict[str, Progress | None] | None:
    row = connection.execute(sql.GET_NOTE, {"name": REFILL}).fetchone()
    return None if row is None else json.loads(row["value"])


def _next(connection: sqlite3.Connection, progress: dict[str, Progress | None]) -> Due | None:
    lately = dict.fromkeys(json.dumps([*row]) for row in connection.execute(sql.WHO_TOLD_LATELY))
    for key, found in {**lately, **progress}.items():
        if found is None or not found["done"]:
            profile, principal = json.loads(key)
            return Due(profile, principal, None if found is None else found["after"])
    return None


def _row(connection: sqlite3.Connection, database: Database, past: Past, now: float) -> int | None:
    """Where a turn goes: its own row, if that lost its event, or a new one. None: it is there, or off the record."""
    event = past.event
    if connection.execute(sql.GET_NOTE, {"name": off_record(event.session)}).fetchone():
        return None
    known = connection.execute(sql.FIND_ROW, {"fp": event.fp}).fetchone()
    if known is not None:
        if known["held"]:
            return None
        connection.execute(sql.HOLD_ROW, {"row": known["row"]})
        return int(known["row"])
    whose = f"{event.profile}\n{event.principal}"
    pair = fingerprint(whose, event.session, event.user_text, event.assistant_text, 0)
    # No number that stands in Postgres may be given again.
    identity = {"install": event.install, "home": str(database.home), "seq": event.seq, "now": now}
    connection.execute(sql.KNOW_IDENTITY, identity)
    added = connection.execute(sql.ADD_PAST_ROW, columns(event, pair=pair, chat=past.chat))
    return added.lastrowid if added.rowcount else None
