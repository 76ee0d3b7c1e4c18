"""Numbers, times and texts as a person reads them. No HTML is made here, and nothing is marked as safe."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

STAGES = {
    "received": ("Received", "waits to be read for what is worth keeping"),
    "extracted": ("Extracted", "waits for its names to be linked"),
    "linked": ("Linked", "waits to be stored"),
}
_LONGEST_FACT = 400


def age(seconds: float) -> str:
    """A span in its largest fitting unit.

    >>> [age(s) for s in (0.3, 42, 150, 7300, 200_000)]
    ['0 s', '42 s', '2 min', '2 h', '2 d']
    """
    if seconds < 120:
        return f"{max(seconds, 0):.0f} s"
    if seconds < 7_200:
        return f"{seconds // 60:.0f} min"
    return f"{seconds // 3600:.0f} h" if seconds < 172_800 else f"{seconds // 86_400:.0f} d"


def since(moment: datetime, now: datetime) -> str:
    """How long ago, or in how long.

    >>> at = datetime(2026, 6, 3, 12, tzinfo=UTC)
    >>> since(at, datetime(2026, 6, 3, 13, tzinfo=UTC)), since(at, datetime(2026, 6, 3, 11, 59, tzinfo=UTC))
    ('60 min ago', 'in 60 s')
    """
    seconds = (now - moment).total_seconds()
    return f"{age(seconds)} ago" if seconds >= 0 else f"in {age(-seconds)}"


def stamp(moment: datetime) -> str:
    """A moment in full, the same for every reader."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def number(value: float, most: int | None = None) -> str:
    """With thousands apart; a count that stopped at a cap says so.

    >>> number(1234), number(10_001, 10_000), number(0.25)
    ('1,234', '10,000+', '0.2')
    """
    if most is not None and value > most:
        return f"{most:,}+"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def share(value: float | None) -> str:
    return "–" if value is None else f"{value * 100:.0f} %"


def ms(value: float | None) -> str:
    """Milliseconds, with one digit below ten."""
    if value is None:
        return "–"
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def fact(value: Any) -> list[str]:
    """A fact of a trace in lines: a list of objects a line each, anything else on one, cut where it is long.

    >>> fact({"branch": 1, "port": 2}), fact([{"why": "it is new", "what": "stored"}])
    (['branch 1, port 2'], ['stored · it is new'])
    """
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return [_cut(" · ".join(_plain(each[name]) for name in sorted(each, key=_place))) for each in value]
    if isinstance(value, list):
        return [_cut(", ".join(_plain(each) for each in value))]
    if isinstance(value, dict):
        return [_cut(", ".join(f"{name} {_plain(each)}" for name, each in value.items()))]
    return [_cut(_plain(value))]


def _place(name: str) -> tuple[int, str]:
    """What happened, to what, and why at the end."""
    return {"what": 0, "why": 2}.get(name, 1), name


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_FACT else f"{text[:_LONGEST_FACT]}…"


def marked(text: str, span: str) -> list[tuple[str, bool]]:
    """A text in pieces, true where it is the span; one piece where the span is not in it.

    >>> marked("We moved. It runs on 8091 now.", "It runs on 8091")
    [('We moved. ', False), ('It runs on 8091', True), (' now.', False)]
    """
    before, found, after = text.partition(span) if span else (text, "", "")
    return [(part, is_span) for part, is_span in ((before, False), (found, True), (after, False)) if part]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart, in the chart's own units."""

    x: float
    y: float
    width: float
    height: float
    value: int


def chart(values: Sequence[int], width: int = 240, height: int = 36) -> list[Bar]:
    """Values as bars side by side, the highest as high as the chart; nothing is a line of a unit."""
    most = max([*values, 1])
    step = width / max(len(values), 1)
    bars = []
    for place, value in enumerate(values):
        tall = max(value / most * height, 1.0)
        bars.append(Bar(round(place * step, 2), round(height - tall, 2), round(step * 0.72, 2), round(tall, 2), value))
    return bars


def shares(counts: Mapping[str, int], width: int = 1000) -> list[tuple[str, int, float, float]]:
    """Counts as pieces of one bar: name, count, where it begins, how wide it is; each at least wide enough to see."""
    total = sum(counts.values()) or 1
    pieces, at = [], 0.0
    least = 6.0
    wide = {name: max(count / total * width, least) for name, count in counts.items() if count}
    scale = width / (sum(wide.values()) or 1)
    for name, value in wide.items():
        pieces.append((name, counts[name], round(at, 2), round(value * scale, 2)))
        at += value * scale
    return pieces
