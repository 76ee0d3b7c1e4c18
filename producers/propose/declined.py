"""What a person does not want proposed again: kept in tier 2 of the home, as hashes, so that it tells nothing of what
may be forgotten one day.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable

from ..hermes.home import Home
from ..shortterm import sql

_NOTE = {"name": "declined"}


def keys(home: Home) -> frozenset[str]:
    """The keys of the proposals that were declined.

    Raises:
        ShortTermUnavailable: tier 2 can't be read.
    """
    if not home.has_database:
        return frozenset()
    with home.database.reading() as connection:
        return frozenset(_held(connection))


def decline(home: Home, key: str) -> None:
    """Propose it no more.

    Raises:
        ShortTermUnavailable: tier 2 can't be written; it is proposed again.
    """
    _change(home, lambda held: sorted({*held, key}))


def reconsider(home: Home, key: str) -> None:
    """Let it be proposed again.

    Raises:
        ShortTermUnavailable: tier 2 can't be written; it stays declined.
    """
    _change(home, lambda held: [each for each in held if each != key])


def _change(home: Home, change: Callable[[list[str]], list[str]]) -> None:
    with home.database.transaction() as connection:
        connection.execute(sql.SET_NOTE, {**_NOTE, "value": json.dumps(change(_held(connection)))})


def _held(connection: sqlite3.Connection) -> list[str]:
    row = connection.execute(sql.GET_NOTE, _NOTE).fetchone()
    held: list[str] = json.loads(row["value"]) if row is not None else []
    return held
