"""How long tier 2 keeps whole messages: 30 days or the last 10 sessions, whichever is more, once they are delivered."""

from __future__ import annotations

import time

from . import sql
from .database import Database

KEPT_DAYS = 30.0
"""Also as long as the oldest backup of Postgres in use: what it lacks after a restore is sent again from here."""
KEPT_SESSIONS = 10
_EVERY_S = 3600.0
_CHUNK = 200


def prune(database: Database, *, now: float | None = None) -> int:
    """Empty what is past its time, and tell how many rows that were. At most one chunk: writers are not kept waiting.

    Raises:
        ShortTermUnavailable: tier 2 can't be written.
    """
    now = time.time() if now is None else now
    with database.transaction() as connection:
        bounds = {"before": now - KEPT_DAYS * 86_400, "sessions": KEPT_SESSIONS, "limit": _CHUNK}
        rows = [{"row": row[0]} for row in connection.execute(sql.EXPIRED, bounds)]
        for statement in (sql.DELETE_WORDS, sql.DELETE_EVENT, sql.EMPTY_ROW):
            connection.executemany(statement, rows)
        if len(rows) < _CHUNK:
            connection.execute(sql.SET_NOTE, {"name": "pruned_at", "value": str(now)})
    return len(rows)


def prune_when_due(database: Database, *, now: float | None = None) -> int:
    """`prune`, if the last complete one was an hour ago or more.

    Raises:
        ShortTermUnavailable: tier 2 can't be read or written.
    """
    now = time.time() if now is None else now
    with database.reading() as connection:
        row = connection.execute(sql.GET_NOTE, {"name": "pruned_at"}).fetchone()
    if row is not None and now - _EVERY_S < float(row["value"]) <= now:  # later than now: the clock was ahead
        return 0
    return prune(database, now=now)
