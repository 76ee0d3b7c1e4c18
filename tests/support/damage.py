"""Tier 2 as a failing disk leaves it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from nextlevel.producers.shortterm.database import Database


def destroy(database: Database, table: str) -> None:
    """Overwrite a page in the middle of a table, as a failing disk does."""
    database.close()  # what is in the log goes into the file
    with closing(sqlite3.connect(database.path)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        pages = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", [table]
        ).fetchall()
    with database.path.open("r+b") as file:
        file.seek((pages[len(pages) // 2][0] - 1) * size)
        file.write(b"\xff" * size)


def has_dbstat() -> bool:
    with closing(sqlite3.connect(":memory:")) as connection:
        return bool(connection.execute("SELECT sqlite_compileoption_used('ENABLE_DBSTAT_VTAB')").fetchone()[0])
