"""All that the plugin is told: `$HERMES_HOME/nextlevel/config.json`, written by `nextlevel hermes install`."""

from __future__ import annotations

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from nextlevel.producers.shortterm.identity import UNENROLLED
from nextlevel.wire.http import JsonClient
from nextlevel.wire.resp import Redis

RECALL_MODES = ("hybrid", "context", "tools", "observe")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"


@dataclass(frozen=True, slots=True)
class Config:
    """`home` is the path that was enrolled: elsewhere the file is a copy. An empty url means: not to be had.

    `recall_mode`: `hybrid` injects and offers tools, `context` only injects, `tools` only offers tools, `observe` only
    learns. `prefetch_ms` is the longest that recall may hold up a turn. Nothing is remembered while `paused`, nor in
    `exclude_folders` and on `exclude_platforms`, which are separated by commas. `pauses` are the times of former ones,
    as "from-to" in seconds since the epoch: nothing said then is looked for later.
    """

    version: int = 1
    install: str = UNENROLLED
    token: str = ""
    home: str = ""
    service_url: str = ""
    redis_url: str = ""
    recall_mode: str = "hybrid"
    prefetch_ms: int = 95
    paused: bool = False
    exclude_folders: str = ""
    exclude_platforms: str = ""
    pauses: str = ""

    def was_paused(self, at: float) -> bool:
        """True if memory was paused at that moment, in seconds since the epoch."""
        spans = (span.partition("-") for span in self.pauses.split(",") if span)
        return any(float(since) <= at <= float(until or "inf") for since, _, until in spans)

    def with_pause(self, paused: bool, now: float) -> Config:
        """Pause, or go on, from now."""
        if paused == self.paused:
            return self
        begun = f"{self.pauses},{now:.0f}-".removeprefix(",")
        return replace(self, paused=paused, pauses=begun if paused else f"{self.pauses}{now:.0f}")

    @property
    def injects(self) -> bool:
        return self.recall_mode in ("hybrid", "context")

    @property
    def offers_tools(self) -> bool:
        return self.recall_mode in ("hybrid", "tools")

    def copied(self, home: Path) -> bool:
        """True if this file came here with a copied or moved home: its id may be in use at the other place."""
        return bool(self.home) and Path(self.home) != home


class NewerConfig(ValueError):
    """The file was written by a newer version, and may mean what this one does not know."""


def path_of(home: Path) -> Path:
    return home / "nextlevel" / "config.json"


def load(home: Path) -> Config:
    """The home's configuration. No file: an unenrolled home, which keeps its turns until it is enrolled.

    Raises:
        NewerConfig: a newer version wrote the file.
        ValueError: it is not what `install` writes; the message names file and field.
    """
    path = path_of(home)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} can't be read ({error}); run `nextlevel hermes install` again") from error
    return _checked(document, path)


def _checked(document: Any, path: Path) -> Config:
    if not isinstance(document, dict):
        raise ValueError(f"{path} is not a JSON object; run `nextlevel hermes install` again")
    known: dict[str, Any] = {}
    for name, default in asdict(Config()).items():
        value = document.get(name, default)
        # The host's settings page stores numbers as text.
        if type(default) is int and isinstance(value, str) and value.isdecimal():
            value = int(value)
        if type(value) is not type(default):
            raise ValueError(f"{path}: {name} must be {type(default).__name__}")
        known[name] = value
    if known["version"] > Config().version:
        raise NewerConfig(f"{path} was written by a newer version of nextlevel; run its `nextlevel hermes install`")
    if known["recall_mode"] not in RECALL_MODES:
        raise ValueError(f"{path}: recall_mode is one of {', '.join(RECALL_MODES)}")
    if not re.fullmatch(r"(?:\d+-\d+,)*(?:\d+-\d*)?", known["pauses"]):
        raise ValueError(f"{path}: pauses are spans as 1796130000-1796133600, separated by commas")
    if not 10 <= known["prefetch_ms"] <= 2_000:
        raise ValueError(f"{path}: prefetch_ms must be between 10 and 2000")
    _client_of(known["service_url"], JsonClient, path, "service_url")
    _client_of(known["redis_url"], Redis, path, "redis_url")
    return Config(**known)


def _client_of(url: str, client: type[JsonClient] | type[Redis], path: Path, name: str) -> None:
    try:
        if url:
            client(url)
    except ValueError as error:
        raise ValueError(f"{path}: {name}: {error}") from error


def save(home: Path, config: Config) -> None:
    """Write the file whole, readable by its owner only; fields of other versions in it stay."""
    path = path_of(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        others = {key: value for key, value in document.items() if key not in {field.name for field in fields(Config)}}
    except (OSError, ValueError, AttributeError):
        others = {}
    draft = path.with_name(f".config.{os.getpid()}.json")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w", encoding="utf-8") as file:
        json.dump({**asdict(config), **others}, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def hosts_recall_mode(home: Path) -> str | None:
    """`memory.recall_mode` of the host's config.yaml, where it is one that we know."""
    mode = hosts_memory_setting(home, "recall_mode")
    return mode if mode in RECALL_MODES else None


def hosts_memory_setting(home: Path, name: str) -> str | None:
    """A plain value under `memory:` in the host's config.yaml, None without one. No more of its YAML is read."""
    try:
        text = (home / "config.yaml").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(
        rf"^memory:[ \t]*\n(?:[ \t]+.*\n|[ \t]*#.*\n|\n)*?[ \t]+{name}:[ \t]*['\"]?([\w.-]+)", text, re.MULTILINE
    )
    return found[1] if found else None


def new_install_id() -> str:
    """Ten lowercase base32 characters: 50 bits, without the signs that delivery ids add."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))
