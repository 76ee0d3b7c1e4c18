"""A SKILL.md drafted from a procedure that was seen twice or more; where its steps changed since, a new list of them.

A skill that we drafted names its block. Of such a file only the numbered list under "## Steps" is ours to change: the
rest may have been edited. A skill of that name that is not ours is left alone.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nextlevel.lang.steps import steps_of
from nextlevel.lang.tokens import fold, stop_words
from nextlevel.model import BlockType, Provenance

from .facts import Fact
from .files import raw_of

FEWEST_TURNS = 2
_NAME_CHARS, _NAME_WORDS = 64, 6
_TRIGGERS = 3
_MARK = re.compile(r"^ +procedure: ([0-9a-f-]{36})$", re.MULTILINE)
_STEPS = re.compile(r"(?<=^## Steps\n\n)(?:\d+\. .*\n)+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Skill:
    """What `path` would hold. `seen`: what it holds now, None where there is none."""

    file: str
    path: Path
    text: str
    seen: bytes | None = None

    def diff(self) -> list[str]:
        """The whole draft, or what would change in the file."""
        before = (self.seen or b"").decode(errors="replace").splitlines()
        changed = difflib.unified_diff(before, self.text.splitlines(), lineterm="", n=1 if before else 0)
        return [line for line in changed if not line.startswith(("---", "+++", "@@"))]


@dataclass(frozen=True, slots=True)
class Kept:
    """A skill of the home, and the block it was drafted from; None: it is not ours."""

    path: Path
    raw: bytes
    block: str | None


def is_procedure(fact: Fact) -> bool:
    """True of a way to do something that has steps in an order."""
    return fact.type is BlockType.PROCEDURAL and bool(steps_of(fact.object))


def kept(home: Path) -> dict[str, Kept]:
    """The skills of a home by name, in whatever category they are.

    Raises:
        UnusableFile: one can't be read.
    """
    found: dict[str, Kept] = {}
    for path in sorted((home / "skills").rglob("SKILL.md")):
        if not any(part.startswith(".") for part in path.relative_to(home).parts):
            raw = raw_of(path) or b""
            mark = _MARK.search(raw.decode(errors="replace"))
            found.setdefault(path.parent.name, Kept(path, raw, mark[1] if mark else None))
    return found


def skill(fact: Fact, line: Collection[str], home: Path, known: dict[str, Kept]) -> Skill | str | None:
    """The draft of a procedure, its new steps where it has been one for long, or why there is none.

    `line` are the ids of all blocks that it was before, its own included. None: nothing is to be done.
    """
    ours = next((each for each in known.values() if each.block in line), None)
    if ours is not None:
        return _renewed(fact, ours, home)
    if len({source.turn for source in fact.sources}) < FEWEST_TURNS:
        return None
    name = _name(fact)
    if name in known:
        return f"{known[name].path} is not from here, and is left alone: {fact.subject}"
    path = home / "skills" / name / "SKILL.md"
    return Skill(f"skills/{name}/SKILL.md", path, _draft(fact, name))


def _renewed(fact: Fact, ours: Kept, home: Path) -> Skill | str | None:
    before = ours.raw.decode(errors="replace")
    steps = _STEPS.search(before)
    if steps is None:
        return f'{ours.path} has no numbered list under "## Steps" any more, and is left alone: {fact.subject}'
    if steps[0] == _listed(fact):
        return None
    text = before[: steps.start()] + _listed(fact) + before[steps.end() :]
    text = _MARK.sub(f"    procedure: {fact.id}", text, count=1)
    return Skill(str(ours.path.relative_to(home)), ours.path, text, ours.raw)


def _draft(fact: Fact, name: str) -> str:
    title = fact.subject.partition(": ")[2] or fact.subject
    title = title[0].upper() + title[1:]
    where = f" in {fact.project}" if fact.project and fact.project not in fact.subject else ""
    asked = list(dict.fromkeys(" ".join(source.span.split())[:160] for source in fact.sources))[-_TRIGGERS:]
    seen = sorted({source.day for source in fact.sources})
    return f"""---
name: {name}
description: {json.dumps(f"{title}{where}, step by step"[:1000], ensure_ascii=False)}
version: 1.0.0
metadata:
  nextlevel:
    procedure: {fact.id}
---

# {title}{where}

## When to use

The user asks for it, as before:

{_bullets(f"“{each}”" for each in asked)}
## Steps

{_listed(fact)}
## Where it comes from

Long-term memory: {len({source.turn for source in fact.sources})} times, on {", ".join(seen[-5:])}.
"""


def _listed(fact: Fact) -> str:
    steps: Sequence[str] = steps_of(fact.object)
    # What the agent's tools did is told word for word, and so is what was distilled from it.
    commands = fact.provenance in (Provenance.USER_ACCEPTED, Provenance.INFERRED) and ";" in fact.object
    lines = (f"`{step}`" if commands and "`" not in step else step for step in steps)
    return "".join(f"{place}. {line}\n" for place, line in enumerate(lines, 1))


def _bullets(lines: Iterable[str]) -> str:
    return "".join(f"- {line}\n" for line in lines)


def _name(fact: Fact) -> str:
    """As the host allows names: letters, digits, dots and hyphens, 64 characters."""
    where = f"{fact.project} " if fact.project and fact.project not in fact.subject else ""
    plain = re.findall(r"[a-z0-9][a-z0-9.-]*", fold(f"{where}{fact.subject}"))
    telling = [word.strip(".-") for word in plain if word not in stop_words()]
    return "-".join(list(dict.fromkeys(telling))[:_NAME_WORDS])[:_NAME_CHARS].strip(".-") or f"procedure-{fact.id[:8]}"
