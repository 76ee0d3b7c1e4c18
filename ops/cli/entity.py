"""`nextlevel entity show`, `said`, `merge`, `split`: who and what is known, and two that are one."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from .commands import examples
from .service import AsJson, Install, Profile, connect, scope
from .show import console, printable

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Show entities and what was said of them, join two that are one, or split one.",
)

Name = Annotated[str, typer.Argument(help="Any of its names.")]


@app.command("show", epilog=examples("nextlevel entity show Florian", "nextlevel entity show mercury --type host"))
def show(
    name: Name,
    type_: Annotated[str | None, typer.Option("--type", help="Its kind, where several bear the name.")] = None,
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show an entity: its names, how many memories speak of it, what was merged into it or split off."""
    _print(connect().entity(name, scope(install, profile), type=type_), as_json)


@app.command("said", epilog=examples("nextlevel entity said crm --on 2026-06-03     what was said of it on 3 June"))
def said(
    name: Name,
    on: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Only on this day, here.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200, help="How much, latest first.")] = 20,
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show what was said of an entity, and in which session."""
    day = {} if on is None else {"since": _time(on), "before": _time(on + timedelta(days=1))}
    found = connect().discussed(name, scope(install, profile), limit=limit, **day)
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    out = console()
    if not found:
        out.print("nothing was said of it then" if on else "nothing was said of it")
    for each in found:
        out.print(printable(f"{each['at'][:16]}  session {each['session']}: {each['span']}"))


@app.command("merge", epilog=examples("nextlevel entity merge Florian Flo       Flo is Florian from here on"))
def merge(
    keep: Annotated[str, typer.Argument(help="The one that stays.")],
    other: Annotated[str, typer.Argument(metavar="MERGE", help="The one that becomes another name of it.")],
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Make two entities one, in all profiles. `split` takes it back."""
    _print(connect().merge(keep, other, scope(install, profile)), as_json)


@app.command(
    "split",
    epilog=examples(
        "nextlevel entity split Florian Flo                         what was merged is itself again",
        "nextlevel entity split Theo 'Theo Marsh' --block 0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2",
    ),
)
def split(
    entity: Name,
    name: Annotated[str, typer.Argument(metavar="OFF", help="The name of what is split off.")],
    block: Annotated[list[str] | None, typer.Option(help="A block that is about it; may be given often.")] = None,
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Take an entity apart: undo a merge, or give blocks to a new entity. `merge` takes it back."""
    _print(connect().split(entity, name, scope(install, profile), blocks=block or ()), as_json)


def _time(midnight: datetime) -> str:
    """A local time as the service reads it."""
    return midnight.astimezone().isoformat()


def _print(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    out = console()
    out.print(printable(f"{found['name']}  {found['type']}  {found['blocks']} blocks"), style="bold")
    out.print(printable(f"  names: {', '.join(found['aliases'])}"))
    for past in found["merges"]:
        told = [f"{what} {past[f'{what}_at'][:16]}" for what in ("merged", "split") if past[f"{what}_at"]]
        out.print(printable(f"  {past['name']}: {', '.join(told)}"), style="dim")
