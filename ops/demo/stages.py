"""What a person sees while the month is played: how many turns stand at which stage; in place on a terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

STAGES = ("on disk", "received", "extracted", "linked", "stored", "skipped", "other")
PLAIN_EVERY_S = 2.0


@dataclass(frozen=True, slots=True)
class Standing:
    """Turns by stage. `on disk` are those of which Postgres has not yet told that it holds them."""

    told: int
    total: int
    counts: Mapping[str, int] = field(default_factory=dict)
    ages_s: Mapping[str, float] = field(default_factory=dict)
    """Of each stage that turns wait for, how long the oldest has waited."""

    @property
    def in_flight(self) -> int:
        return sum(self.counts.get(stage, 0) for stage in ("on disk", "received", "extracted", "linked"))


def standing(told: int, total: int, waiting: int, status: Mapping[str, Any]) -> Standing:
    """From the outbox's count and what GET /v1/status says."""
    store = status["store"]
    counts = {stage: int(found["waiting"]) for stage, found in store["stages"].items()}
    for state, turns in store["ended_today"].items():
        place = state if state in STAGES else "other"
        counts[place] = counts.get(place, 0) + int(turns)
    ages = {stage: float(found.get("oldest_s") or 0) for stage, found in store["stages"].items()}
    return Standing(told, total, {"on disk": waiting, **counts}, ages)


class View:
    """Shows a standing again and again until its block ends."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, refresh_per_second=10, transient=True) if console.is_terminal else None
        self._last: tuple[float, Mapping[str, int] | None] = (0.0, None)
        self._learnt: Sequence[str] = ()

    def __enter__(self) -> View:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def in_place(self) -> bool:
        """True on a terminal, where the picture is drawn again and again."""
        return self._live is not None

    def say(self, line: str) -> None:
        """A line that stays."""
        self._console.print(line, highlight=False, markup=False, overflow="ellipsis", no_wrap=True)

    def learnt(self, sentences: Sequence[str]) -> None:
        """What was learnt last, newest first; shown on a terminal with the next standing."""
        self._learnt = sentences

    def show(self, now: Standing) -> None:
        """On a terminal at once; elsewhere at most every two seconds, and only what changed."""
        if self._live is not None:
            self._live.update(Group(_table(now), *(Text(f"   + {each}", style="green") for each in self._learnt)))
            return
        since, shown = self._last
        if now.counts != shown and time.monotonic() - since >= PLAIN_EVERY_S:
            self._last = (time.monotonic(), now.counts)
            some = [f"{turns} {stage}" for stage, turns in now.counts.items() if turns]
            self.say("          " + " · ".join([f"{now.told} of {now.total} told", *some]))


def _table(now: Standing) -> Table:
    table = Table(box=None, padding=(0, 1), show_header=False)
    table.add_row("told", f"{now.told}", ProgressBar(total=now.total, completed=now.told, width=40))
    # Every stage, so that the table keeps its height; quarantined, dead and erased only where there are some.
    for stage in (stage for stage in STAGES if stage != "other" or now.counts.get(stage)):
        turns = now.counts.get(stage, 0)
        age = f"oldest {now.ages_s[stage]:.1f} s" if turns and now.ages_s.get(stage) else ""
        table.add_row(stage, f"{turns}", ProgressBar(total=now.total, completed=turns, width=40), age)
    return table
