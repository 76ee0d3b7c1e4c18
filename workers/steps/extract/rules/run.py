"""What one extraction knows while it goes through a turn, clause by clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from nextlevel.model import Candidate, Turn

from ..found import Dropped
from .focus import Focus
from .stance import Mood, Why


@dataclass(slots=True)
class Run:
    """The state of one extraction. `languages` are those of the session so far, `named` the day last spoken of."""

    turn: Turn
    text: str
    focus: Focus
    mood: Mood
    languages: frozenset[str]
    window: Sequence[Turn] = ()
    named: date | None = None
    latest: tuple[int, int] = (-1, 0)
    candidates: list[Candidate] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    retractions: list[str] = field(default_factory=list)

    def drop(self, text: str, why: Why) -> None:
        self.dropped.append(Dropped(text, why))
