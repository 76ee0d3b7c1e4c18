"""`nextlevel doctor`: every link of the chain, each fault with its cure."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from nextlevel.ops.doctor import Finding, Patient, State, examine

from .commands import examples
from .show import console, printable

app = typer.Typer(add_completion=False)

_SIGNS = {
    State.OK: ("ok", "green"),
    State.WEAK: ("weak", "yellow"),
    State.BROKEN: ("BROKEN", "bold red"),
    State.SKIPPED: ("–", "dim"),
}


@app.command(
    epilog=examples(
        "nextlevel doctor",
        "nextlevel doctor --canary                              also sends a memory all the way, and forgets it",
        "nextlevel doctor --json | jq '.[] | select(.state != \"ok\")'",
    )
)
def doctor(
    canary: Annotated[bool, typer.Option("--canary", help="Also tell, recall and forget a memory of its own.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as a JSON list.")] = False,
) -> None:
    """Look at every link from the agent to its recall. Each fault with its cure; exit code 1 if something is broken.

    It changes nothing, asks each link itself, and so also works when the service is down.
    """
    from nextlevel import log
    from nextlevel.settings import load

    log.setup("error")
    findings = asyncio.run(_findings(Patient(load()), console(), canary=canary, quiet=as_json))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    if any(finding.state is State.BROKEN for finding in findings):
        raise typer.Exit(1)


async def _findings(patient: Patient, out: Console, *, canary: bool, quiet: bool) -> list[Finding]:
    found = []
    async for finding in examine(patient, canary=canary):
        found.append(finding)
        if not quiet:
            _print(out, finding)
    return found


def _print(out: Console, finding: Finding) -> None:
    sign, style = _SIGNS[finding.state]
    out.print(Text.assemble((f"{sign:<7}", style), f"{finding.link}: {printable(finding.says)}"), soft_wrap=True)
    if finding.cure:
        out.print(Text(f"       → {finding.cure}"), soft_wrap=True)
