"""`nextlevel recall`, `remember`, `forget`, `feedback`, `trace`: a person's way to what is remembered."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer

from nextlevel.client import Client, ScopeName
from nextlevel.model import block_text

from .commands import examples
from .service import AsJson, Install, Profile, connect, scope
from .show import console, facts, printable, table

recall = typer.Typer(add_completion=False)
remember = typer.Typer(add_completion=False)
forget = typer.Typer(add_completion=False)
feedback = typer.Typer(add_completion=False)
trace = typer.Typer(add_completion=False)

DOCUMENT = "document:"
"""What stands before the id of a document, so that it is not taken for a block's."""


@recall.command(
    "recall",
    epilog=examples(
        "nextlevel recall 'which port does the crm use?'",
        "nextlevel recall crm --as-of 2026-06-03T12:00:00+02:00    what held on 3 June",
        "nextlevel recall crm --known-at 2026-06-03T12:00:00+02:00 what memory believed on 3 June",
        "nextlevel recall crm --explain                            also what was left out, and why",
    ),
)
def run_recall(
    query: Annotated[str, typer.Argument(help="What you want to know, in your own words.")],
    as_of: Annotated[str | None, typer.Option(help="What held at this time (RFC 3339 with offset).")] = None,
    known_at: Annotated[str | None, typer.Option(help="By what was learnt until this time.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each channel's part, and what was left out.")
    ] = False,
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show what is known that fits a query. Best first, each line with its reason."""
    found = connect().recall(query, scope(install, profile), as_of=as_of, known_at=known_at, explain=explain)
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2, ensure_ascii=False))
        return
    out = console()
    if found.items:
        rows = [
            (f"{item['score']:.2f}", item["tier"], item["text"], item["why"], facts(item["channels"]))
            for item in found.items
        ]
        columns = ("score", "tier", "memory", "why", "channels")
        shown = len(columns) if explain else 4
        out.print(table(columns[:shown], [row[:shown] for row in rows]))
    else:
        out.print("nothing known that fits")
    for session in found.sessions:
        out.print(printable(_discussed(session)), style="bold")
        for line in _lines_of(session):
            out.print(printable(f"  {line}"))
    for left_out in found.dropped:
        out.print(printable(f"left out: {left_out['text']} ({left_out['why']})"), style="dim")
    out.print(f"{found.rung} · {found.ms:.0f} ms · {'with' if found.vectors else 'without'} vectors", style="dim")


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
    for block in accepted.blocks:
        typer.echo(f"remembered: {_sentence(block)}")
    if not accepted.blocks:
        why = f" ({accepted.reason})" if accepted.reason else ""
        typer.echo(f"{accepted.state}{printable(why)}: see `nextlevel trace {accepted.turn}`")


@forget.command(
    "forget",
    epilog=examples(
        "nextlevel forget 'port of the crm'                        shows what fits and asks",
        "nextlevel forget 0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2 --yes",
    ),
)
def run_forget(
    what: Annotated[str, typer.Argument(help="A block's id, document:<its id>, or words that say what to forget.")],
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    install: Install = "local",
    profile: Profile = "default",
) -> None:
    """Forget blocks for good: no recall gives them once this returns. What fits is shown first.

    Documents of the library that speak of it are named; each is forgotten by its id.
    """
    client, whose = connect(), scope(install, profile)
    if what.startswith(DOCUMENT):
        client.forget_document(what.removeprefix(DOCUMENT), whose)
        typer.echo("forgotten: 1")
        return
    fitting, documents = (_block(client, what, whose), []) if _is_id(what) else client.matches(what, whose)
    doomed = {block["id"]: block["text"] for block in fitting}
    for each in documents:
        typer.echo(printable(f"{each['folder']}/{each['path']} speaks of it: nextlevel forget {DOCUMENT}{each['id']}"))
    if not doomed:
        typer.echo("no memory fits; nothing was forgotten")
        raise typer.Exit(1)
    for text in doomed.values():
        typer.echo(f"  {printable(text)}")
    if not yes:
        typer.confirm(f"Forget {'this' if len(doomed) == 1 else f'these {len(doomed)}'}?", abort=True)
    gone = [block for wanted in doomed for block in client.forget(wanted, whose)]
    typer.echo(f"forgotten: {len(gone)}")


class Said(StrEnum):
    """What may be said of a block."""

    USED = "used"
    WRONG = "wrong"
    NONE = "none"


@feedback.command(
    "feedback",
    epilog=examples(
        "nextlevel feedback 0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2 wrong",
        "nextlevel feedback 0192e4a6-7c1e-7d3b-9b1e-2f6a51a0c1d2 none     takes it back",
    ),
)
def run_feedback(
    block: Annotated[UUID, typer.Argument(help="A block's id, as `nextlevel recall --json` tells it.")],
    verdict: Annotated[Said, typer.Argument(help="It was of use, or is wrong; or neither, after all.")],
    install: Install = "local",
    profile: Profile = "default",
) -> None:
    """Say that a memory was of use, or is wrong. Recall moves it a little up or down; to remove it, `forget` it."""
    connect().feedback(str(block), verdict, scope(install, profile))
    typer.echo(f"{verdict}: {block}")


@trace.command("trace", epilog=examples("nextlevel trace k3v9:42"))
def run_trace(
    turn: Annotated[str, typer.Argument(help="A turn's id, <install>:<number>.")], as_json: AsJson = False
) -> None:
    """Show a turn's life. From its arrival to the blocks it made, or the reason why it made none."""
    found = connect().trace(turn)
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    out = console()
    state, reason = found["turn"]["state"], found["turn"]["reason"]
    out.print(printable(f"{turn} {state}" + (f" ({reason})" if reason else "")), style="bold")
    out.print(
        table(("at", "step", "facts"), [(step["at"], step["step"], facts(step["facts"])) for step in found["events"]])
    )
    for block in found["blocks"]:
        out.print(f"→ {_sentence(block)} ({block['status']})")


def _discussed(session: dict[str, Any]) -> str:
    when = "" if session["in_time"] else " (not at the time that was asked for)"
    return f"{session['at'][:10]}  {session['title'] or '(no digest yet)'}  · {session['session']}{when}"


def _lines_of(session: dict[str, Any]) -> list[str]:
    """What was said in a session, what it came to, and what has become of that."""
    lines = [f'"{quote["text"]}"' for quote in session["quotes"]]
    lines += [f"decided  {text}" for text in session["decisions"]]
    lines += [f"open     {text}" for text in session["open_ends"]]
    for change in session["changes"]:
        now = "still so" if change["now"] == change["then"] else f"now {change['now'] or 'nothing of it holds'}"
        lines.append(f"then     {change['then']}; {now}")
    return lines


def _block(client: Client, block: str, whose: ScopeName) -> list[dict[str, Any]]:
    return [past["block"] for past in client.history(block, whose) if past["block"]["id"] == block.lower()]


def _sentence(block: dict[str, Any]) -> str:
    return printable(block_text(block["subject"], block["predicate"], block["object"], negated=block["negated"]))


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False
