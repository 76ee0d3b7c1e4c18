"""A few turns of the month, told: what was said, what of it was kept, what was dropped, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

Trace = Mapping[str, Any]
MOST_CHARS = 150
MOST_PIECES = 3


def telling(traces: Sequence[Trace]) -> list[Trace]:
    """The first turn of each kind that a newcomer should see: kept, replaced, partly dropped, passed over."""
    kinds: tuple[Callable[[Trace], bool], ...] = (
        lambda trace: bool(_facts(trace, "extract").get("kept")) and bool(_facts(trace, "extract").get("dropped")),
        lambda trace: bool(_facts(trace, "store").get("superseded")),
        lambda trace: trace["turn"]["state"] == "skipped" and bool(_facts(trace, "extract").get("dropped")),
        lambda trace: trace["turn"]["state"] == "skipped" and not _facts(trace, "extract").get("dropped"),
    )
    found: list[Trace] = []
    for kind in kinds:
        found += [trace for trace in traces if kind(trace) and trace not in found][:1]
    return found


def turn(trace: Trace) -> RenderableType:
    """One turn: its words, then a line for each thing that was kept, replaced or dropped, with the reason."""
    extract, store = _facts(trace, "extract"), _facts(trace, "store")
    lines = [Text(f"“{_short(trace['turn']['user_text'])}”", style="bold")]
    lines += [
        Text(f"  kept      {_short(each['text'])}  ({_plain(each['branch'])})", style="green")
        for each in extract.get("kept", [])[:MOST_PIECES]
    ]
    lines += [
        Text(f"  replaced  {_short(each['block'])}  ({each['why']})", style="yellow")
        for each in store.get("changes", [])
        if each["what"] == "superseded"
    ]
    lines += [
        Text(f"  dropped   {_short(each['text'])}  ({_plain(each['why'])})", style="dim")
        for each in extract.get("dropped", [])[:MOST_PIECES]
    ]
    if trace["turn"]["state"] == "skipped":
        lines.append(Text(f"  nothing kept: {trace['turn']['reason']}", style="dim"))
    return Group(*lines)


def _facts(trace: Trace, step: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((event["facts"] for event in trace["events"] if event["step"] == step), {})
    return found


def _plain(code: str) -> str:
    return code.replace("_", " ")


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= MOST_CHARS else f"{one_line[: MOST_CHARS - 1]}…"
