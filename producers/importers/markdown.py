"""A folder of Markdown into the library: what changed is sent, what went is taken out. Safe to break off and to repeat.

The service knows each note by the hash of what was read, so a second run sends what differs and no more.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nextlevel.client import Client, ScopeName
from nextlevel.errors import UnusableFile
from nextlevel.event import MAX_SESSION_CHARS
from nextlevel.safety.redact import redact

LARGEST_BYTES = 1_048_576
"""A larger file is no note: a log, an export, a book."""
_SUFFIXES = (".md", ".markdown")
_LONGEST_PATH_BYTES = 1_000
_AT_ONCE, _BYTES_AT_ONCE, _REMOVED_AT_ONCE = 20, 262_144, 1_000


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that is not brought in, and why. `stays`: what the library holds of it is kept."""

    path: str
    why: str
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it was read. `hash` is SHA-256 in hex, `size` in bytes."""

    path: str
    text: str
    hash: str
    changed_at: datetime
    size: int


@dataclass(slots=True)
class Progress:
    """How far an import has come. `secrets` were taken out, `orders` are sections that are kept and never quoted."""

    of: int
    done: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    sections: int = 0
    orders: int = 0
    secrets: int = 0
    left_out: list[LeftOut] = field(default_factory=list)


def bring(
    client: Client, folder: Path, scope: ScopeName, project: str | None, *, as_memory: bool = False
) -> Iterator[Progress]:
    """Make the library hold what stands in a folder, and memory its general lines if asked; told after each note.

    Raises:
        UnusableFile: it is no folder that can be read, or holds no note, though the library holds some of it.
        ServiceUnreachable: the service is away; what it took stays, and a repetition goes on from there.
    """
    notes, left_out = look(folder)
    held = client.library(folder.as_posix(), scope)
    if held and not notes:
        raise UnusableFile(
            f"{folder} holds no Markdown, and the library {len(held)} notes of it: is it mounted? "
            f"`nextlevel import markdown --remove {folder}` takes them out"
        )
    done = Progress(of=len(notes), left_out=left_out)
    sender = _Sender(client, folder.as_posix(), scope, project, held, done, as_memory=as_memory)
    stands = set()
    for path, file in notes.items():
        note = read(path, file, project)
        done.done += 1
        if isinstance(note, LeftOut):
            left_out.append(note)
        elif as_memory and len(f"{folder.as_posix()}/{path}") > MAX_SESSION_CHARS:  # the session of its turns
            left_out.append(LeftOut(path, "its path is too long for a source of memory", stays=True))
        elif held.get(path) == (note.hash, as_memory):
            stands.add(path)
            done.unchanged += 1
        else:
            stands.add(path)
            sender.add(note)
        yield done
    sender.send()
    stay = [each.path for each in left_out if each.stays]
    gone = [path for path in held.keys() - stands | sender.forgotten & held.keys() if not _within(path, stay)]
    for start in range(0, len(gone), _REMOVED_AT_ONCE):
        done.removed += client.remove_documents(folder.as_posix(), gone[start : start + _REMOVED_AT_ONCE], scope)
    yield done


def look(folder: Path) -> tuple[dict[str, Path], list[LeftOut]]:
    """The notes of a folder by their path in it, and what is left out. A link leads out of it or to what stands in it.

    Raises:
        UnusableFile: it is no folder that can be read.
    """
    notes: dict[str, Path] = {}
    left_out: list[LeftOut] = []

    def unread(error: OSError) -> None:
        if Path(error.filename) == folder:
            raise UnusableFile(f"{folder} can't be read: {error.strerror}") from error
        left_out.append(LeftOut(_place(folder, Path(error.filename)), f"can't be read: {error.strerror}", stays=True))

    for root, folders, files in os.walk(folder, onerror=unread):
        here = Path(root)
        for each in sorted(folders):
            if each.startswith(".") or (here / each).is_symlink():
                left_out.append(LeftOut(_place(folder, here / each), "hidden" if each.startswith(".") else "a link"))
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for each in sorted(files):
            path = _place(folder, here / each)
            if not each.lower().endswith(_SUFFIXES) or each.startswith("."):
                continue
            if (here / each).is_symlink():
                left_out.append(LeftOut(path, "a link"))
            elif not path.isprintable() or len(path.encode("utf-8", "surrogateescape")) > _LONGEST_PATH_BYTES:
                left_out.append(LeftOut(path, "its name can't be kept"))
            else:
                notes[path] = here / each
    return notes, left_out


def read(path: str, file: Path, project: str | None) -> Note | LeftOut:
    """A note, or why it is none."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            return LeftOut(path, "no file")
        if status.st_size > LARGEST_BYTES:
            return LeftOut(path, f"{status.st_size / LARGEST_BYTES:.1f} MiB; a note has at most 1")
        data = file.read_bytes()
    except FileNotFoundError:
        return LeftOut(path, "went while it was read")
    except OSError as error:
        return LeftOut(path, f"can't be read: {error.strerror}", stays=True)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return LeftOut(path, "not UTF-8")
    if "\x00" in text:
        return LeftOut(path, "not text")
    # With the project: under another one the same text is another document.
    hash = hashlib.sha256(f"{project or ''}\0".encode() + data).hexdigest()
    return Note(path, text, hash, datetime.fromtimestamp(status.st_mtime, UTC), len(data))


class _Sender:
    """Sends notes in batches, their secrets taken out before. `forgotten` are those that the service refused."""

    def __init__(
        self,
        client: Client,
        folder: str,
        scope: ScopeName,
        project: str | None,
        held: Collection[str],
        done: Progress,
        *,
        as_memory: bool,
    ) -> None:
        self._client, self._folder, self._scope, self._project = client, folder, scope, project
        self._held, self._done, self._as_memory = held, done, as_memory
        self._waiting: list[Note] = []
        self.forgotten: set[str] = set()

    def add(self, note: Note) -> None:
        self._waiting.append(note)
        if len(self._waiting) >= _AT_ONCE or sum(each.size for each in self._waiting) >= _BYTES_AT_ONCE:
            self.send()

    def send(self) -> None:
        notes, self._waiting = self._waiting, []
        if not notes:
            return
        taken = self._client.keep_documents(
            self._folder,
            [self._document(each) for each in notes],
            self._scope,
            project=self._project,
            as_memory=self._as_memory,
        )
        refused, done = set(taken["forgotten"]), self._done
        known = sum(each.path in self._held and each.path not in refused for each in notes)
        done.changed, done.new = done.changed + known, done.new + taken["kept"] - known
        done.sections, done.orders = done.sections + taken["sections"], done.orders + taken["orders"]
        done.secrets += sum(taken["redacted"].values())
        done.left_out += [LeftOut(path, "forgotten; it comes back once it changes") for path in sorted(refused)]
        done.left_out += [LeftOut(path, "its end: a note has at most 2,000 sections") for path in taken["cut"]]
        self.forgotten |= refused

    def _document(self, note: Note) -> dict[str, str]:
        clean = redact(note.text)
        self._done.secrets += sum(clean.counts.values())
        return {"path": note.path, "text": clean.text, "hash": note.hash, "changed_at": note.changed_at.isoformat()}


def _within(path: str, places: Sequence[str]) -> bool:
    return any(path == each or path.startswith(f"{each}/") for each in places)


def _place(folder: Path, file: Path) -> str:
    return file.relative_to(folder).as_posix()
