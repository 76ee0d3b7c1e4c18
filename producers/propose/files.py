"""MEMORY.md and USER.md as the host keeps them: read, counted, and changed under its own lock, whole or not at all."""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nextlevel.errors import Conflict, UnusableFile

from ..hermes.config import hosts_memory_setting
from ..hermes.inprompt import FILES

DELIMITER = "\n§\n"
_LIMITS = {"memory": 2_200, "user": 1_375}
_LIMIT_SETTING = {"memory": "memory_char_limit", "user": "user_char_limit"}
_SWITCH = {"memory": "memory_enabled", "user": "user_profile_enabled"}
_LOCK_S = 5.0


@dataclass(frozen=True, slots=True)
class Change:
    """What to do to one file: `new` takes the place of the entries `old`, or is added; without `new` they go."""

    target: str
    old: tuple[str, ...] = ()
    new: str | None = None

    @property
    def file(self) -> str:
        return FILES[self.target]

    def diff(self) -> list[str]:
        """Line by line, which go and which come."""
        gone = [f"- {line}" for entry in self.old for line in entry.splitlines()]
        return gone + [f"+ {line}" for line in (self.new or "").splitlines()]


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One of the two files as it was read; `raw` None: there is none yet. `limit` in characters, as the host counts."""

    target: str
    path: Path
    limit: int
    raw: bytes | None = None

    @property
    def entries(self) -> tuple[str, ...]:
        """As the host loads them: trimmed, none twice."""
        return tuple(dict.fromkeys(each.strip() for each in self._text.split(DELIMITER) if each.strip()))

    @property
    def used(self) -> int:
        return len(DELIMITER.join(self.entries))

    @property
    def usage(self) -> str:
        return f"{FILES[self.target]}: {self.used:,} of {self.limit:,} characters ({self.share:.0%})"

    @property
    def share(self) -> float:
        return self.used / self.limit

    def after(self, change: Change) -> tuple[str, ...]:
        """The entries once a change is made.

        Raises:
            Conflict: an entry it speaks of is not there, or the file would be too long for the host.
        """
        missing = [each for each in change.old if each not in self.entries]
        if missing:
            raise Conflict(f"{self.path} holds no longer: {missing[0]!r}; run `nextlevel propose` again")
        place = self.entries.index(change.old[0]) if change.old else len(self.entries)
        kept = [each for each in self.entries if each not in change.old and each != change.new]
        if change.new is not None:
            kept.insert(place, change.new)
        used = len(DELIMITER.join(kept))
        if used > self.limit and used > self.used:
            raise Conflict(
                f"{FILES[self.target]} would be {used:,} characters long, {self.limit:,} are the host's limit"
            )
        return tuple(kept)

    def write(self, change: Change) -> MemoryFile:
        """Make a change. The file as it is now.

        Raises:
            Conflict: the file is not what was read, or the change does not fit it.
            UnusableFile: the file is not in the host's format, locked for long, or can't be written.
        """
        text = DELIMITER.join(self.after(change))
        if change.old:
            self._must_be_the_hosts()
        with _locked(self.path):
            write_over(self.path, seen=self.raw, text=text)
        return replace(self, raw=text.encode())

    @property
    def _text(self) -> str:
        # Line ends as the host reads them.
        return (self.raw or b"").decode().replace("\r\n", "\n")

    def _must_be_the_hosts(self) -> None:
        """The host itself refuses to rewrite what it would not have written like this: a person has put it there."""
        pieces = [each.strip() for each in self._text.split(DELIMITER) if each.strip()]
        if self._text.strip() != DELIMITER.join(pieces) or any(len(each) > self.limit for each in pieces):
            raise UnusableFile(
                f"{self.path} was edited by hand, and not as Hermes writes it: part its entries by lines of § alone"
            )


def read(home: Path, target: str) -> MemoryFile | None:
    """One of the files, None where the host's configuration turns it off.

    Raises:
        UnusableFile: it can't be read.
    """
    if hosts_memory_setting(home, _SWITCH[target]) in ("false", "no", "off"):
        return None
    path, limit = home / "memories" / FILES[target], hosts_memory_setting(home, _LIMIT_SETTING[target])
    file = MemoryFile(target, path, int(limit) if limit and limit.isdecimal() else _LIMITS[target], raw_of(path))
    try:
        file.entries  # noqa: B018  a file that is no UTF-8 is told of here
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path} is not UTF-8 ({error}); Hermes can't read it either") from error
    return file


def write_over(path: Path, *, seen: bytes | None, text: str) -> None:
    """Put a text in a file's place at once, if there is what was seen, None: nothing. A link stays a link.

    Raises:
        Conflict: there is something else by now; nothing was written.
        UnusableFile: it can't be written.
    """
    path = path.resolve()
    if raw_of(path) != seen:
        raise Conflict(f"{path} changed meanwhile; nothing was written. Run `nextlevel propose` again")
    draft = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, draft = tempfile.mkstemp(dir=path.parent, prefix=".nextlevel-", suffix=".tmp")
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        if draft:
            Path(draft).unlink(missing_ok=True)
        raise UnusableFile(f"{path} can't be written: {error}") from error


def raw_of(path: Path) -> bytes | None:
    """What a file holds, None where there is none.

    Raises:
        UnusableFile: it can't be read.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnusableFile(f"{path} can't be read: {error}") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock that the host takes for each write.

    Raises:
        UnusableFile: it is held for too long, or can't be made.
    """
    ends = time.monotonic() + _LOCK_S
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_name(f"{path.name}.lock").open("a+", encoding="utf-8")
    except OSError as error:
        raise UnusableFile(f"{path} can't be locked: {error}") from error
    with lock:  # closing it lets go
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > ends:
                    raise UnusableFile(f"{path} is locked by another process for {_LOCK_S:.0f} s; try again") from None
                time.sleep(0.02)
        yield
