"""`nextlevel dead list`, `retry`, `discard`: what died, and what becomes of it; the dashboard's decisions, by hand."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from .commands import examples
from .service import AsJson, connect
from .show import console, printable

SHOWN = 50

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Show dead letters, retry or discard them.")

Kind = Annotated[str | None, typer.Option(help="dead (a turn) or quarantined (a refused event).")]
Code = Annotated[str | None, typer.Option(help="Only those with this code.")]
Text = Annotated[str | None, typer.Option(help="Only those with this in the reason or the session, or of this turn.")]
Yes = Annotated[bool, typer.Option("--yes", help="Don't ask.")]


@app.command("list", epilog=examples("nextlevel dead list", "nextlevel dead list --code unknown_installation --json"))
def show(kind: Kind = None, code: Code = None, text: Text = None, as_json: AsJson = False) -> None:
    """Show the newest fifty that fit, with their reasons."""
    found = connect().dead(kind=kind, code=code, text=text, limit=SHOWN)
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not found["letters"]:
        typer.echo("none")
        return
    out = console()
    for each in found["letters"]:
        out.print(
            printable(f"{each['code']}  {each['turn'] or 'no turn'}  {each['kind']} {each['at'][:19]}"), style="bold"
        )
        out.print(printable(f"  {_last(each)}"))
    if found["count"] > SHOWN:
        out.print(f"{SHOWN} of {found['count']}")


@app.command(epilog=examples("nextlevel dead retry --code unknown_installation"))
def retry(kind: Kind = None, code: Code = None, text: Text = None, yes: Yes = False) -> None:
    """Let dead turns begin anew, and publish again what never became a turn. All that fit."""
    _decide("retry", kind, code, text, yes=yes)


@app.command(epilog=examples("nextlevel dead discard --code bad_json --yes"))
def discard(kind: Kind = None, code: Code = None, text: Text = None, yes: Yes = False) -> None:
    """Take letters away for good. All that fit; their turns stay dead."""
    _decide("discard", kind, code, text, yes=yes)


def _decide(deed: str, kind: str | None, code: str | None, text: str | None, *, yes: bool) -> None:
    client = connect()
    found = client.dead(kind=kind, code=code, text=text, limit=1)
    count = found["count"]
    if not count:
        typer.echo("none fits")
        raise typer.Exit(1)
    if not yes:
        typer.confirm(f"{deed.capitalize()} {count} dead letter{'' if count == 1 else 's'}?", abort=True)
    done = client.decide_dead(deed, up_to=found["newest"], kind=kind, code=code, text=text)
    typer.echo(f"{'retried' if deed == 'retry' else 'discarded'}: {done['done']}")
    for why, left in done["left"].items():
        typer.echo(printable(f"left: {left} ({why})"))


def _last(letter: dict[str, Any]) -> str:
    lines = letter["reason"].strip().splitlines()
    return str(lines[-1]) if lines else ""
