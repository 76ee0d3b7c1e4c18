"""`nextlevel status`: what waits where, since when, how turns ended and what failed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.table import Table

from .commands import examples
from .service import AsJson, connect
from .show import console, table

Rows = Sequence[Mapping[str, Any]]

app = typer.Typer(add_completion=False)


@app.command(epilog=examples("nextlevel status", "nextlevel status --json | jq .store.stages"))
def status(as_json: AsJson = False) -> None:
    """Show what waits where, and what failed. Depth and oldest age of each stage, receipts, dead letters, workers."""
    found = connect().status()
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    out = console()
    for title, rows in _sections(found["store"], found["queue"]):
        out.print(title, style="bold")
        out.print(_table(rows) if rows else "none")


def _sections(store: Mapping[str, Any], queue: Mapping[str, Any]) -> list[tuple[str, Rows]]:
    """In the order of a turn's way."""
    return [
        ("on the streams", _named("stream", queue["streams"])),
        ("turns on their way", _named("state", store["stages"])),
        ("jobs queued", [{"stage": stage, "jobs": jobs} for stage, jobs in queue["queues"].items()]),
        ("turns that ended today", [{"state": state, "turns": turns} for state, turns in store["ended_today"].items()]),
        ("language models today", _named("model", store["models_today"])),
        ("blocks that expired", [store["expired"]]),
        ("vectors", [store["vectors"]]),
        ("receipts", store["installations"]),
        ("dead letters", [{"kind": kind, "letters": letters} for kind, letters in store["dead_letters"].items()]),
        ("latest dead letters", store["latest_dead_letters"]),
        ("workers", [{"worker": worker} for worker in queue["workers"]]),
    ]


def _named(name: str, found: Mapping[str, Mapping[str, Any]]) -> Rows:
    return [{name: key, **facts} for key, facts in found.items()]


def _table(rows: Rows) -> Table:
    """One row an object, one column a field, in the order in which the service tells them."""
    columns = [name.removesuffix("_s").replace("_", " ") for name in rows[0]]
    return table(columns, [[_cell(name, value) for name, value in row.items()] for row in rows])


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "–"
    return age(value) if name.endswith("_s") else str(value)


def age(seconds: float) -> str:
    """A span as a person says it: seconds below two minutes, minutes below two hours, then hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
