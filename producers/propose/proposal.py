"""One thing that a person may accept: what would change, why, and the turns that say so."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from .facts import Fact, Source
from .files import Change
from .skills import Skill

_ID_CHARS = 8


@dataclass(frozen=True, slots=True)
class Proposal:
    """`change` to a memory file, or the text of a skill. `won`: characters that the file gets shorter by. `fact` is
    what a new entry says, however it is worded."""

    change: Change | Skill
    why: str
    evidence: tuple[Source, ...] = ()
    won: int = field(default=0, compare=False)
    fact: str = ""

    @property
    def id(self) -> str:
        """Made of what would change: the same id never stands for another change."""
        return key_of(self._content)[:_ID_CHARS]

    @property
    def key(self) -> str:
        """By which it stays declined: a fact told again is the same in any words, and told otherwise it is another."""
        return key_of(self.fact or self._content)

    @property
    def _content(self) -> str:
        return json.dumps([self.change.file, *self.change.diff()], ensure_ascii=False)


def key_of(text: str) -> str:
    """By which something stays declined."""
    return hashlib.sha256(text.encode()).hexdigest()


def evidence(facts: Iterable[Fact], *, each: int = 2) -> tuple[Source, ...]:
    """The turns behind some facts, the latest of each fact, oldest first."""
    found = {source for fact in facts for source in sorted(fact.sources, key=lambda s: s.day)[-each:]}
    return tuple(sorted(found, key=lambda source: (source.day, source.turn)))
