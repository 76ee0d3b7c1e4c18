"""What stands in the system prompt already: the host's memory files, SOUL.md, the project's context file.

It is not injected a second time, and not learnt when somebody repeats it: it is loaded anew in each session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nextlevel.lang.tokens import content_words
from nextlevel.safety.markers import HEADER

FILES = {"memory": "MEMORY.md", "user": "USER.md"}
"""The host's own memory, by what its tool calls the target."""
_MOST_CHARS = 20_000
"""Of each file, as the host has it."""
_LEAST_CHARS = 20
"""A shorter line is nobody's own words: "Yes." may stand in any file."""
_PROJECT_FILES = ("AGENTS.md", "agents.md", "CLAUDE.md", "claude.md", ".cursorrules")

_BULLET = re.compile(r"^[\s>]*(?:[-*+•]|\d+[.)]|#+)?\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_SINCE = re.compile(r"\s*\((?:since|until) [^()]*\)\s*$")
_NOBODY = frozenset({"user", "noted"})


@dataclass(frozen=True, slots=True)
class InPrompt:
    """The sentences of those files: as their bare text, and as sets of words."""

    lines: frozenset[str] = frozenset()
    statements: tuple[frozenset[str], ...] = ()

    def without_repeated(self, context: str) -> str:
        """A recalled context without the lines that say what a single statement of these files says."""
        kept = [line for line in context.splitlines() if line == HEADER or not self._says(line)]
        return "\n".join(kept) if any(line != HEADER for line in kept) else ""

    def without_quoted(self, text: str) -> str:
        """What was said, without lines that are copied from these files."""
        if not self.lines:
            return text
        return "\n".join(line for line in text.split("\n") if _bare(line) not in self.lines)

    def _says(self, line: str) -> bool:
        words = set(content_words(_SINCE.sub("", line))) - _NOBODY
        return bool(words) and any(words <= statement for statement in self.statements)


def read(home: Path, directory: Path | None) -> InPrompt:
    """What a session that starts now in `directory`, None for one that has none here, gets from these files."""
    found = [home / "memories" / name for name in FILES.values()]
    found.append(home / "SOUL.md")
    if directory is not None:
        found += next(([path] for path in _candidates(directory) if path.is_file()), [])
    return _parsed(tuple((path, seen) for path in found if (seen := stamp(path))))


@lru_cache(maxsize=64)
def _parsed(files: tuple[tuple[Path, tuple[int, int]], ...]) -> InPrompt:
    """Kept, since a gateway and an API server begin anew with each message."""
    lines: set[str] = set()
    statements: set[frozenset[str]] = set()
    for path, _ in files:
        text = _text(path)
        lines |= {bare for line in text.splitlines() if len(bare := _bare(line)) >= _LEAST_CHARS}
        statements |= {frozenset(content_words(sentence)) for sentence in _SENTENCE.split(text)}
    return InPrompt(frozenset(lines), tuple(each for each in statements if each))


def stamp(path: Path) -> tuple[int, int] | None:
    """By what one knows that a file has changed; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _candidates(directory: Path) -> Iterator[Path]:
    """The host loads the first of these that there is."""
    parents = [directory, *directory.parents]
    root = next((place for place, each in enumerate(parents) if (each / ".git").exists()), 0)
    for parent in parents[: root + 1]:
        yield from (parent / name for name in (".hermes.md", "HERMES.md"))
    yield from (directory / name for name in _PROJECT_FILES)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_CHARS)
    except OSError:
        return ""


def _bare(line: str) -> str:
    return _BULLET.sub("", line).strip()
