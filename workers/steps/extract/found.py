"""What an extractor gives back, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass

from nextlevel.model import Candidate


@dataclass(frozen=True, slots=True)
class Dropped:
    """A piece of a turn that was not kept, and why; the reason is a code of the trace ("question", "quote", …)."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one turn says. `retractions` are texts that the user takes back: what they stated is to be closed."""

    candidates: tuple[Candidate, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    retractions: tuple[str, ...] = ()
