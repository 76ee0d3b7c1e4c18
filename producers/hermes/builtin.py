"""MEMORY.md and USER.md, mirrored: the host tells of some writes only, so the files themselves are looked at."""

from __future__ import annotations

from pathlib import Path

from nextlevel.producers.shortterm.mirror import mirror
from nextlevel.safety import markers
from nextlevel.safety.redact import redact

from . import offrecord
from .home import Home
from .inprompt import FILES, stamp
from .recording import order
from .speaker import Speaker

_MOST_CHARS = 64 * 1024
"""Of a file; the host allows itself 2,200. A larger one was written by somebody else, and is left alone."""

_DELIMITER = "\n§\n"


def entries(home: Path, target: str) -> list[str]:
    """The entries of one file as the host would load them; none where there is no file."""
    try:
        text = (home / "memories" / FILES[target]).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    if len(text) > _MOST_CHARS:
        return []
    return [entry.strip() for entry in text.split(_DELIMITER) if entry.strip()]


def look(home: Home, speaker: Speaker, session: str) -> None:
    """Mirror what changed since the last look: by the hook, in the background, by hand, in another process.

    The files are the home's, whoever speaks: what they hold is remembered for its owner.

    Raises:
        ShortTermUnavailable: tier 2 can't be written.
        OSError: a file can't be read.
    """
    stamps = tuple(stamp(home.path / "memories" / name) for name in FILES.values())
    if stamps == home.builtin_stamps or offrecord.reason(home, speaker, session):
        return
    owner = Speaker(profile=speaker.profile)
    for target in FILES:
        clean = [redact(markers.strip(entry)).text for entry in entries(home.path, target)]
        if clean or home.has_database:
            added, removed = mirror(home.database, order(owner, session, "core_write"), target, clean)
            home.counters["core_added"] += added
            home.counters["core_removed"] += removed
    home.builtin_stamps = stamps
