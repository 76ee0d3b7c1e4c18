"""A damaged tier 2: kept aside as it is, and begun anew with every event of it that can still be read.

What the old file numbered keeps its numbers. New events leave under a new id, since nobody can know which numbers stand
in pages that can't be read. What was acknowledged is in Postgres, and comes back from there (`refill`).
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from . import sql
from .identity import adopt, forked

if sys.platform != "win32":
    import fcntl

REFILL = "refill"
"""The note of a file that was begun anew: for each person (profile and principal) how far what it lacks came back."""

_LOCK = "shortterm.lock"
_WAIT_S = 5.0
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_COPIED = (
    ("SELECT install, home, next_seq, mark, high, 0, made_at FROM identities", sql.COPY_IDENTITY),
    (
        "SELECT row, install, seq, fp, pair, kind, lane, profile, principal, chat, session, turn, at, held, state,"
        " publishes, next_at FROM outbox",
        sql.COPY_ROW,
    ),
    ("SELECT row, event FROM events", sql.COPY_EVENT),
    # A forgotten turn is gone from the index alone: so that is copied, and never made again from the events.
    ("SELECT id, c0, c1 FROM words_content", sql.COPY_WORDS),
    ("SELECT session, line FROM injected", sql.COPY_INJECTED),
    ("SELECT name, value FROM notes", sql.COPY_NOTE),
)
"""What is read from the old file, in the order of its first column, and how it is written into the new one."""

Place = tuple[int, int]
Prepare = Callable[[sqlite3.Connection, Path], object]


def is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


@contextmanager
def opening(path: Path) -> Iterator[None]:
    """Hold off a rescue for as long as a connection is opened: files of two databases must not meet under one name."""
    with _locked(path, exclusive=False):
        yield


def place_of(path: Path) -> Place | None:
    """Which file it is that has this name now; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def rescue(path: Path, damaged: Place | None, prepare: Prepare, *, home: Path, base: str) -> str:
    """Move a damaged file aside and put a new one in its place; what to tell a person, "" where another process did it.

    `damaged` is the place of the file that was found to be so.

    Raises:
        OSError: it can't be moved.
        sqlite3.Error: the new one can't be written.
    """
    if sys.platform == "win32":  # it does not rename a file that is open
        raise OSError("it is damaged; end every agent of this home, and move it away")
    with _locked(path, exclusive=True):
        if place_of(path) != damaged:
            return ""
        aside = path.with_name(f"{path.name}.damaged-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}")
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            told = _begin(draft, path, prepare, home=home, base=base, aside=aside)
            os.link(path, aside)
            for suffix in ("-wal", "-shm"):
                if (beside := Path(f"{path}{suffix}")).exists():
                    beside.rename(f"{aside}{suffix}")
            os.replace(draft, path)
            _sync(path.parent)
        finally:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{draft}{suffix}").unlink(missing_ok=True)
    return told


@contextmanager
def _locked(path: Path, *, exclusive: bool) -> Iterator[None]:
    try:
        fd = os.open(path.with_name(_LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:  # a read-only folder: nobody renames anything in it, and SQLite has the better words
        yield
        return
    try:
        _lock(fd, exclusive=exclusive)
        yield
    finally:
        os.close(fd)


def _lock(fd: int, *, exclusive: bool) -> None:
    if sys.platform == "win32":
        return
    ends = time.monotonic() + _WAIT_S
    while True:
        try:
            return fcntl.flock(fd, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > ends:
                raise OSError("another process opens it, or moves it aside, and does not end") from error
            time.sleep(0.005)
        except OSError:  # a file system without such locks
            if exclusive:
                raise
            return


def _begin(draft: Path, path: Path, prepare: Prepare, *, home: Path, base: str, aside: Path) -> str:
    with closing(sqlite3.connect(draft, isolation_level=None)) as new:
        prepare(new, draft)
        new.execute("BEGIN IMMEDIATE")
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as damaged:
            for select, insert in _COPIED:
                new.executemany(insert, _readable(damaged, select))
        for statement in (sql.DROP_EVENTS_WITHOUT_ROW, sql.DROP_WORDS_WITHOUT_EVENT, sql.EMPTY_ROWS_WITHOUT_EVENT):
            new.execute(statement)
        lost = new.execute(sql.DROP_ROWS_WITHOUT_EVENT).rowcount
        adopt(new, forked(base), home=str(home))
        found = new.execute(sql.COUNTS).fetchone()
        told = (
            f"{time.strftime('%Y-%m-%d %H:%M:%S')} the file was damaged and lies in {aside}; {found['events']} events "
            f"of it were taken over, {found['pending'] + found['published']} of them not delivered yet"
            + (f"; {lost} that were not delivered can't be read" if lost else "")
        )
        new.execute(sql.SET_NOTE, {"name": "moved_aside", "value": told})
        refill = {json.dumps([*person]): None for person in new.execute(sql.PEOPLE)}
        new.execute(sql.SET_NOTE, {"name": REFILL, "value": json.dumps(refill)})
        new.execute("COMMIT")
    return told


def _readable(damaged: sqlite3.Connection, select: str) -> Iterator[tuple[Any, ...]]:
    """Every row that can be read: from the front to the first page that can't, then from the back."""
    seen: set[Any] = set()
    for order in ("ASC", "DESC"):
        with contextlib.suppress(sqlite3.DatabaseError):
            for row in damaged.execute(f"{select} ORDER BY 1 {order}"):
                if order == "DESC" and row[0] in seen:
                    break
                seen.add(row[0])
                yield row


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
