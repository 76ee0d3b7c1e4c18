"""`nextlevel sessions`: past conversations, and what each came to."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

import typer

from .commands import examples
from .service import AsJson, Install, Profile, connect, scope
from .show import console, printable

app = typer.Typer(add_completion=False)


@app.command(
    "sessions",
    epilog=examples(
        "nextlevel sessions                 the latest ten",
        "nextlevel sessions --limit 50 --json",
    ),
)
def run_sessions(
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many, latest first.")] = 10,
    install: Install = "local",
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show past conversations. Title, topics, what was decided, what was left open, where it stood.

    A conversation gets its digest once nothing was said for half an hour.
    """
    found = connect().sessions(scope(install, profile), limit=limit)
    if as_json:
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    out = console()
    if not found:
        out.print("no conversations yet")
    for each in found:
        out.print(printable(_head(each)), style="bold")
        for line in _lines(each["digest"]):
            out.print(printable(f"  {line}"))


def _head(session: dict[str, Any]) -> str:
    digest = session["digest"]
    title = digest["title"] if digest else "(no digest yet)"
    return f"{_day(session['last_at'])}  {title}  · {session['turns']} turns · {session['session']}"


def _lines(digest: dict[str, Any] | None) -> list[str]:
    if digest is None:
        return []
    lines = [f"about    {', '.join(digest['topics'])}"] if digest["topics"] else []
    lines += [f"decided  {each['text']} ({_day(each['at'])})" for each in digest["decisions"]]
    lines += [f"open     {each['text']} ({_day(each['at'])})" for each in digest["open_ends"]]
    state = digest["state"]
    return lines + [f"last     {side}: {state[side]}" for side in ("user", "assistant") if state[side]]


def _day(moment: str) -> str:
    return f"{datetime.fromisoformat(moment):%Y-%m-%d %H:%M}"
