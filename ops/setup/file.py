"""nextlevel.toml with some settings changed: everything else in it stays as a person wrote it."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from nextlevel.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Change:
    """What the file holds, and what it would hold."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> list[str]:
        """A line each, as `diff -u` shows it; empty where nothing would change."""
        lines = difflib.unified_diff(self.before.splitlines(), self.after.splitlines(), lineterm="", n=1)
        return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def planned(path: Path, values: Mapping[str, str]) -> Change:
    """The file with these settings in it; one that is not there counts as empty.

    Raises:
        Misconfigured: it can't be read, or is no TOML.
    """
    try:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        document = tomlkit.parse(before)
    except (OSError, ValueError, TOMLKitError) as error:
        raise Misconfigured(f"{path} can't be read: {error}. Mend it or move it away, then run setup again") from error
    for name, value in values.items():
        document[name] = value
    return Change(path, before, tomlkit.dumps(document))


def write(change: Change) -> None:
    """Put the new file in place whole; its rights stay, a new one is its owner's alone.

    Raises:
        Misconfigured: the place can't be written.
    """
    draft = change.path.with_name(f".{change.path.name}.{os.getpid()}")
    try:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        draft.touch(mode=0o600)
        if change.path.exists():
            draft.chmod(change.path.stat().st_mode & 0o777)
        with draft.open("w", encoding="utf-8") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(change.path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise Misconfigured(
            f"{change.path} can't be written ({error.strerror}): open it, or name another by NEXTLEVEL_CONFIG_FILE"
        ) from error
