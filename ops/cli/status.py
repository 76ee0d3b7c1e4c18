"""`nextlevel status`: what waits where, since when, what was stored and what failed."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from .commands import examples
from .service import AsJson, connect

app = typer.Typer(add_completion=False)


@app.command(epilog=examples("nextlevel status", "nextlevel status --json | jq .stages"))
def status(as_json: AsJson = False) -> None:
    """Show what waits where, and what failed. Each stage's depth and oldest age, receipts, dead letters, workers."""
    found = connect().status()
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    for section in ("stages", "receipts", "dead_letters", "workers"):
        console.print(f"[bold]{section.replace('_', ' ')}[/]")
        console.print(_table(found.get(section, [])))


def _table(rows: list[dict[str, Any]]) -> Table | str:
    """One row an object, one column a field, in the order in which the service tells them."""
    if not rows:
        return "  none"
    table = Table(*(name.replace("_", " ") for name in rows[0]), box=None)
    for row in rows:
        table.add_row(*(_cell(name, value) for name, value in row.items()))
    return table


def _cell(name: str, value: Any) -> str:
    if value is None or value == []:
        return "–"
    if name.endswith("_s"):
        return _age(value)
    return ", ".join(str(part) for part in value) if isinstance(value, list) else str(value)


def _age(seconds: float) -> str:
    """A span as a person says it.

    >>> _age(3.2), _age(125), _age(7300)
    ('3 s', '2 min', '2 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
