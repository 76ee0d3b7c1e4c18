"""`nextlevel recall`, `remember`, `forget`, `trace`: a person's way to what is remembered."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from .commands import examples
from .service import AsJson, Install, Profile, connect, scope

recall = typer.Typer(add_completion=False)
remember = typer.Typer(add_completion=False)
forget = typer.Typer(add_completion=False)
trace = typer.Typer(add_completion=False)


@recall.command(
    "recall",
    epilog=examples(
        "nextlevel recall 'which port does the crm use?'",
        "nextlevel recall crm --as-of 2026-06-03T12:00:00+02:00    what held on 3 June",
        "nextlevel recall crm --explain                            also what was left out, and why",
    ),
)
def run_recall(
    query: Annotated[str, typer.Argument(help="What you want to know, in your own words.")],
    as_of: Annotated[str | None, typer.Option(help="What held at this time (RFC 3339 with offset).")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each channel's part, and what was left out.")
    ] = False,
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show what is known that fits a query. Best first, each line with its reason."""
    found = connect().recall(query, scope(install, profile), as_of=as_of, explain=explain)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    if not found.items:
        console.print("nothing known that fits")
    else:
        console.print(_items(found.items, explain=explain))
    for left_out in found.dropped if explain else []:
        console.print(f"[dim]left out: {left_out['text']} ({left_out['why']})[/]")
    console.print(f"[dim]{found.rung} · {found.ms:.0f} ms · {'with' if found.vectors else 'without'} vectors[/]")


@remember.command(
    "remember",
    epilog=examples(
        "nextlevel remember 'the crm moved to port 8091'",
        "nextlevel remember 'tables compact, no bullets' --type user_preference",
    ),
)
def run_remember(
    text: Annotated[str, typer.Argument(help="One fact or preference, as you would say it.")],
    type_: Annotated[str | None, typer.Option("--type", help="Block type, where the words don't tell it.")] = None,
    install: Install = "local",
    profile: Profile = "default",
) -> None:
    """Store a memory because you say so."""
    accepted = connect().remember(text, scope(install, profile), type=type_)
    typer.echo(f"{accepted.state}: turn {accepted.turn} (see `nextlevel trace {accepted.turn}`)")


@forget.command(
    "forget",
    epilog=examples(
        "nextlevel forget 'port of the crm'                        shows what fits and asks",
        "nextlevel forget 0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2 --yes",
    ),
)
def run_forget(
    what: Annotated[str, typer.Argument(help="A block's id, or words that say what to forget.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    install: Install = "local",
    profile: Profile = "default",
) -> None:
    """Forget blocks for good: no recall gives them once this returns. What fits is shown first."""
    client, whose = connect(), scope(install, profile)
    doomed = {what: what} if _is_id(what) else {hit["id"]: hit["text"] for hit in client.matches(what, whose)}
    if not doomed:
        typer.echo("nothing fits; nothing was forgotten")
        raise typer.Exit(1)
    for text in doomed.values():
        typer.echo(f"  {text}")
    if not yes:
        typer.confirm(f"Forget {'this' if len(doomed) == 1 else f'these {len(doomed)}'}?", abort=True)
    gone = [block for wanted in doomed for block in client.forget(wanted, whose)]
    typer.echo(f"forgotten: {len(gone)}")


@trace.command("trace", epilog=examples("nextlevel trace k3v9:42"))
def run_trace(
    turn: Annotated[str, typer.Argument(help="A turn's id, <install>:<number>.")], as_json: AsJson = False
) -> None:
    """Show a turn's life. From its arrival to the blocks it made, or the reason why it made none."""
    found = connect().trace(turn)
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False)
    state, reason = found["turn"]["state"], found["turn"].get("reason")
    console.print(f"[bold]{turn}[/] {state}" + (f" ({reason})" if reason else ""))
    events = Table("at", "event", "facts", box=None)
    for event in found["events"]:
        facts = {key: value for key, value in event.items() if key not in {"at", "event"}}
        events.add_row(str(event.get("at", "")), str(event.get("event", "")), _facts(facts))
    console.print(events)
    for block in found["blocks"]:
        console.print(f"  → {block['text']} [dim]{block['id']}[/]")


def _items(items: list[dict[str, Any]], *, explain: bool) -> Table:
    table = Table("score", "memory", "why", *(["channels"] if explain else []), box=None)
    for item in items:
        row = [f"{item['score']:.2f}", item["text"], item["why"]]
        table.add_row(*row, *([_facts(item["channels"])] if explain else []))
    return table


def _facts(facts: dict[str, Any]) -> str:
    return " ".join(
        f"{name}={value:.2f}" if isinstance(value, float) else f"{name}={value}" for name, value in facts.items()
    )


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
