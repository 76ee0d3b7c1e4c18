"""The one connection to a home's tier 2: opened late, shared by all threads, never carried over a fork."""

from __future__ import annotations

import logging
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from nextlevel.errors import Misconfigured, ShortTermUnavailable

from .rescue import Place, is_damage, opening, place_of, rescue

log = logging.getLogger("nextlevel.shortterm")

T = TypeVar("T")

FILE = "shortterm.db"
SCHEMA_VERSION = 3
BUSY_S = 5.0
"""How long a write waits for another process's; theirs take milliseconds."""

_CURES = {
    sqlite3.SQLITE_FULL: "the disk is full; free some space, until then new turns are not remembered",
    sqlite3.SQLITE_BUSY: "another process keeps it locked; find out which (`fuser`), the turn was not remembered",
    sqlite3.SQLITE_READONLY: "it is read-only; make it and its folder writable for this user",
    sqlite3.SQLITE_CANTOPEN: "it can't be opened; make its folder writable for this user",
    sqlite3.SQLITE_IOERR: "the disk reports an error",
    sqlite3.SQLITE_CORRUPT: "it is damaged; the next turn moves it aside and begins a new one",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database; the next turn moves it aside and begins a new one",
}


class Damaged(ShortTermUnavailable):
    """The file is damaged, or was and has another in its place by now: the same, done again, has a new file."""


def despite_damage(work: Callable[[], T]) -> T:
    """What a piece of work gives; it is done once more where it met damage, by then in a new file."""
    try:
        return work()
    except Damaged:
        return work()


class Database:
    """Tier 2 of one home. `base` is the enrolled installation id, `home` the home's resolved path.

    `copied` tells that the enrolment was made for another path: the id may be in use there.
    """

    def __init__(self, path: Path, *, home: Path, base: str, copied: bool = False) -> None:
        self.path, self.home, self.base, self.copied = path, home, base, copied
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._wal, self._lasting = False, True  # of the open connection: its journal, and how it was last set
        self._place: Place | None = None  # of the open connection: its file, whatever has that name by now
        self._damaged: Place | None = None
        self.moved_aside = ""
        """What to tell a person where this process found the file damaged and began a new one."""

    @contextmanager
    def transaction(self, *, lasting: bool = True) -> Iterator[sqlite3.Connection]:
        """A write transaction, begun at once so that what is read in it still holds when it commits; then fsync'd.

        One that is not `lasting` survives the process, and a power cut only once a later one was fsync'd. It is for
        what can be found out again, such as what has been sent; it costs no wait for the disk.

        Raises:
            Damaged: nothing of it was written; the next transaction begins a new file.
            ShortTermUnavailable: it can't be written; nothing of this transaction was.
        """
        with self._lock, self._translated():
            if self._damaged is not None:
                self._begin_anew()
            connection = self._open()
            if self._wal and lasting != self._lasting:  # with a rollback journal less than FULL could damage the file
                connection.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
                self._lasting = lasting
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself where the disk is full.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            if place_of(self.path) != self._place:
                raise Damaged(f"{self.path}: another process began it anew meanwhile")

    @contextmanager
    def reading(self, *, wait_s: float = BUSY_S) -> Iterator[sqlite3.Connection]:
        """The connection, for reading. Waits at most `wait_s` seconds for a thread or process that writes.

        Raises:
            Damaged: it is damaged; who waits as long as a write does begins a new file the next time.
            ShortTermUnavailable: it can't be read, or not in time.
        """
        if not self._lock.acquire(timeout=wait_s):
            raise ShortTermUnavailable(f"{self.path}: another thread writes")
        try:
            with self._translated():
                if self._damaged is not None and wait_s >= BUSY_S:
                    self._begin_anew()
                connection = self._open()
                connection.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
                try:
                    yield connection
                finally:
                    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")
        finally:
            self._lock.release()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def left_behind(self) -> None:
        """In a forked child: the parent's connection is not ours to use or close, nor is a lock that a thread held."""
        self._lock = threading.RLock()
        if self._connection is not None:
            _inherited.append(self._connection)
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and place_of(self.path) != self._place:
            self.close()  # it was moved aside: what is written into it would be lost
        if self._connection is None:  # a failure is not remembered: the next call tries anew
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with opening(self.path):
                connection = sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
                try:
                    self._wal, self._lasting = prepare(connection, self.path) == "wal", True
                except BaseException:
                    connection.close()
                    raise
                finally:
                    self._place = place_of(self.path)
            self._connection = connection
        return self._connection

    def _begin_anew(self) -> None:
        damaged, self._damaged = self._damaged, None
        self.close()
        if told := rescue(self.path, damaged, prepare, home=self.home, base=self.base):
            self.moved_aside = told
            log.warning("%s: %s", self.path, told)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if is_damage(error):
                self._damaged = self._place
                raise Damaged(f"{self.path}: {cure(error)}") from error
            raise ShortTermUnavailable(f"{self.path}: {cure(error)}") from error
        except OSError as error:
            raise ShortTermUnavailable(f"{self.path}: {error}") from error


def cure(error: Exception) -> str:
    """What went wrong and what to do, in a person's words."""
    code = getattr(error, "sqlite_errorcode", 0)
    return _CURES.get(code & 0xFF, str(error))


def prepare(connection: sqlite3.Connection, path: Path) -> str:
    """Set the connection so that a commit is on the disk, and bring the tables up to date; the journal's mode.

    Raises:
        Misconfigured: a newer version of nextlevel made this file.
    """
    connection.row_factory = sqlite3.Row
    mode = journal(connection)
    if mode != "wal" and path not in _told:
        _told.add(path)
        log.warning("%s: its file system has no shared memory for WAL; a rollback journal serves, more slowly", path)
    for pragma in durability(mode):
        connection.execute(pragma)
    if _version(connection) in _STEPS:
        _bring_up(connection)
    if _version(connection) != SCHEMA_VERSION:
        raise Misconfigured(f"{path} was made by a newer version of nextlevel; run `nextlevel hermes install` again")
    return mode


def durability(mode: str) -> list[str]:
    """The pragmas with which a commit survives a power cut, by journal mode."""
    # Without WAL, EXTRA also syncs the folder: else the deleted journal could come back and undo the commit.
    chosen = ["PRAGMA synchronous = FULL" if mode == "wal" else "PRAGMA synchronous = EXTRA"]
    if sys.platform == "darwin":
        chosen.append("PRAGMA fullfsync = 1")  # there a plain fsync only reaches the drive's cache
    return chosen


def journal(connection: sqlite3.Connection) -> str:
    """WAL where the file system can (a network one can't), else a rollback journal."""
    ends = time.monotonic() + BUSY_S
    while True:
        try:
            mode = str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            break
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
                mode = ""
                break
            # Where two open a new file at once, SQLite refuses one of them without waiting for the other.
            if time.monotonic() > ends:
                raise
            time.sleep(0.005)
    if mode == "wal":
        return mode
    return str(connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


_STEPS = {0: "schema.sql", 1: "upgrade_1.sql", 2: "upgrade_2.sql"}
"""The script for a file of each version that is not today's."""


def _bring_up(connection: sqlite3.Connection) -> None:
    """Two processes may come here at once: the second finds it done."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        while (script := _STEPS.get(_version(connection))) is not None:
            for statement in _statements(Path(__file__).with_name(script).read_text(encoding="utf-8")):
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    # executescript would commit the transaction first.
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


_open_databases: dict[Path, Database] = {}
_lock = threading.Lock()
_inherited: list[sqlite3.Connection] = []
_told: set[Path] = set()


def of_home(home: Path, base: str, *, copied: bool = False) -> Database:
    """The process's one database of a home; it is not opened before it is used."""
    with _lock:
        known = _open_databases.get(home)  # most are resolved already
        if known is None:
            resolved = home.resolve()
            known = _open_databases.get(resolved) or Database(path_of(resolved), home=resolved, base=base)
            _open_databases[resolved] = known
        known.base, known.copied = base, copied  # it may have been enrolled anew since
        return known


def path_of(home: Path) -> Path:
    return home / "nextlevel" / FILE


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for database in _open_databases.values():
        database.left_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
