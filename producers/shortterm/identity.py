"""Under which id turns leave a home. No number may ever stand for two turns, though homes are copied and restored."""

from __future__ import annotations

import secrets
import sqlite3
import time
from pathlib import Path

from nextlevel.event import base_install

from . import sql

UNENROLLED = "local"
"""The base id of a home that nobody enrolled. Many homes share it, so each gets a suffix from the start."""


def take_number(connection: sqlite3.Connection, *, base: str, home: Path, copied: bool) -> tuple[str, int]:
    """The id and number of the next event. Call it inside the transaction that writes the event."""
    row = connection.execute(sql.CURRENT_IDENTITY).fetchone()
    if row is None:
        install = forked(base) if copied or base == UNENROLLED else base
        adopt(connection, install, home=str(home))
    elif row["home"] != str(home) or base_install(row["install"]) != base:
        # Copied or moved here, or enrolled anew: the other place may go on counting under the old id.
        install = _unused(connection, base)
        adopt(connection, install, home=str(home))
    else:
        install = str(row["install"])
    connection.execute(sql.TAKE_NUMBER, {"install": install})
    return install, int(connection.execute(sql.CURRENT_IDENTITY).fetchone()["next_seq"]) - 1


def adopt(connection: sqlite3.Connection, install: str, *, home: str) -> None:
    """From now on turns leave under this id; those already written keep theirs."""
    connection.execute(sql.RETIRE_IDENTITY)
    connection.execute(sql.ADD_IDENTITY, {"install": install, "home": home, "now": time.time()})


def forked(base: str) -> str:
    """A new delivery id of an enrolled installation: `<base>.<6 hex>`."""
    return f"{base_install(base)}.{secrets.token_hex(3)}"


def current(connection: sqlite3.Connection) -> str | None:
    row = connection.execute(sql.CURRENT_IDENTITY).fetchone()
    return None if row is None else str(row["install"])


def _unused(connection: sqlite3.Connection, base: str) -> str:
    """The base id itself where this home never used it and was not made by copying one that did."""
    known = {str(row[0]) for row in connection.execute("SELECT install FROM identities")}
    fresh = base != UNENROLLED and not any(base_install(install) == base for install in known)
    return base if fresh else forked(base)
