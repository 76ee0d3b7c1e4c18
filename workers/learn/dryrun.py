"""Read transcripts as the workers read turns, and say what would become of each. No store, no model, nothing kept.

The steps are the product's own: secrets and recalled text go first (`safety`), then `pipeline.read` with the turns
before as its window. What needs memory to be known is left out: what would replace an older fact. A fact that is told
again within the file is said to be known.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nextlevel.event import Event
from nextlevel.model import Candidate, Turn
from nextlevel.safety.harmless import harmless

from ..steps import classify, dedup, pipeline
from .transcripts import Exchange, Transcript


@dataclass(frozen=True, slots=True)
class TurnReport:
    """What would become of one turn. `kept` and `dropped` are as in its trace; `reason`: why it would be skipped."""

    transcript: str
    turn: int
    at: str
    said: str
    reason: str | None
    kept: list[dict[str, Any]]
    dropped: list[dict[str, Any]]
    retractions: list[str]
    redactions: dict[str, int]


@dataclass(slots=True)
class Report:
    """All turns of a file, and their sums."""

    turns: list[TurnReport] = field(default_factory=list)

    @property
    def totals(self) -> dict[str, Any]:
        """Counts: turns, what was kept by branch, what was dropped by code, secrets by kind."""
        kept = [each for turn in self.turns for each in turn.kept]
        return {
            "turns": len(self.turns),
            "skipped": sum(turn.reason is not None for turn in self.turns),
            "kept": len(kept),
            "kept_by_branch": dict(Counter(each["branch"] for each in kept)),
            "dropped_by_code": dict(Counter(each["why"] for turn in self.turns for each in turn.dropped)),
            "secrets": dict(sum((Counter(turn.redactions) for turn in self.turns), Counter())),
        }


def dry_run(transcripts: Iterable[Transcript], *, review_below: float) -> Report:
    """Read every turn of the transcripts, in order. What is less sure than `review_below` would wait for review."""
    report = Report()
    known: set[bytes] = set()
    for transcript in transcripts:
        window: list[Turn] = []
        for number, exchange in enumerate(transcript.exchanges, 1):
            turn, redactions = _turn(transcript.name, number, exchange)
            reading = pipeline.read("turn", turn, {}, window[-pipeline.WINDOW_TURNS :])
            facts = reading.facts
            kept = facts.get("kept", [])
            for told, candidate in zip(kept, reading.found.candidates, strict=False):
                told |= _standing(candidate, known, review_below)
            report.turns.append(
                TurnReport(
                    transcript.title or transcript.name,
                    number,
                    exchange.at.isoformat(timespec="seconds"),
                    turn.user_text,
                    reading.skip,
                    kept,
                    facts.get("dropped", []),
                    list(reading.found.retractions),
                    redactions,
                )
            )
            window.append(turn)
    return report


def _turn(session: str, number: int, exchange: Exchange) -> tuple[Turn, dict[str, int]]:
    """The turn as it would be stored: through the same door as any event."""
    told = Event(
        id=f"dry-run:{number}",
        fp=hashlib.sha256(f"{session}{number}".encode()).hexdigest(),
        kind="turn",
        session=session,
        turn=number,
        at=exchange.at.isoformat(),
        user_text=exchange.user,
        assistant_text=exchange.assistant,
        tools=exchange.tools,
    )
    event, redactions = harmless(told)
    turn = Turn(event.id, session, number, exchange.at, event.user_text, event.assistant_text, event.tools, event.meta)
    return turn, redactions


def _standing(candidate: Candidate, known: set[bytes], review_below: float) -> dict[str, str]:
    """`new`, `known` (told before in this file), or `review` (a person would have to look)."""
    fact = dedup.fact_hash(
        candidate.subject, candidate.predicate, candidate.object, negated=candidate.negated, project=candidate.project
    )
    if fact in known:
        return {"standing": "known"}
    known.add(fact)
    return {"standing": "review" if classify.needs_review(candidate, review_below=review_below) else "new"}
