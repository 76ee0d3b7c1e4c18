"""The command `nextlevel learn`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from nextlevel import settings
from nextlevel.errors import Misconfigured

from . import transcripts
from .dryrun import Report, TurnReport, dry_run

app = typer.Typer(add_completion=False)

_SAID_CHARS = 90


@app.command(
    "learn",
    epilog="\b\nExamples:\n  nextlevel learn --dry-run conversations.json\n"
    "  nextlevel learn --dry-run notes.txt --json",
)
def learn(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="`hermes sessions export`, ChatGPT's or Claude's conversations.json, or text with lines "
            "'User: …' and 'Assistant: …' (dated by the file).",
        ),
    ],
    dry_run_: Annotated[
        bool, typer.Option("--dry-run", help="Required, and the only mode: show, and store nothing.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every turn with its findings as JSON.")] = False,
) -> None:
    """Show what would be remembered of a transcript. What is kept and dropped, turn by turn, and why.

    Read by the rules that the workers use, without a language model. Nothing is stored or sent.
    """
    if not dry_run_:
        raise Misconfigured("`nextlevel learn` only shows what would be learnt: give --dry-run")
    report = dry_run(transcripts.read(file), review_below=settings.load().review_below)
    if as_json:
        document = {"totals": report.totals, "turns": [asdict(turn) for turn in report.turns]}
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    _print(report)


def _print(report: Report) -> None:
    heading = None
    for turn in report.turns:
        if turn.transcript != heading:
            heading = turn.transcript
            typer.secho(_shown(f"== {heading}"), bold=True)
        for line in _lines(turn):
            typer.echo(_shown(line))
    totals = report.totals
    typer.echo(
        f"\n{totals['turns']} turns, {totals['skipped']} of them skipped; {totals['kept']} memories would be kept"
    )
    for title, counts in (
        ("kept", totals["kept_by_branch"]),
        ("dropped", totals["dropped_by_code"]),
        ("secrets taken out", totals["secrets"]),
    ):
        if counts:
            typer.echo(
                f"{title}: " + ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda c: -c[1]))
            )


def _lines(turn: TurnReport) -> list[str]:
    said = " ".join(turn.said.split())
    head = f"[{turn.turn}] {said[:_SAID_CHARS]}{'…' if len(said) > _SAID_CHARS else ''}"
    lines = [head + (f"   skipped: {turn.reason}" if turn.reason is not None else "")]
    for kept in turn.kept:
        sure = f"{kept['type']} {kept['confidence']:.2f}"
        standing = "" if kept["standing"] == "new" else f", {kept['standing']}"
        lines.append(f"    + {kept['text']}   ({kept['shelf']}: {kept['branch']}; {sure}{standing})")
    lines += [f"    - {dropped['text']}   ({dropped['why']}: {dropped['branch']})" for dropped in turn.dropped]
    lines += [f"    x {text}   (taken back)" for text in turn.retractions]
    return lines


def _shown(line: str) -> str:
    """What was said neither steers the terminal nor breaks a line."""
    return "".join(each if each.isprintable() else " " for each in line)
