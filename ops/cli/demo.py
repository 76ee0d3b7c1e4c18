"""`nextlevel demo`: a month of sessions through everything, on this machine only."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from .commands import examples
from .stopping import STOPPED, until_stopped

app = typer.Typer(add_completion=False)
WIDTH = 80


@app.command(epilog=examples("nextlevel demo", "nextlevel demo --fresh", "nextlevel demo --keep"))
def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where the demo keeps its home and data.")] = Path(".demo"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew: delete what an earlier run left there.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Go on running afterwards, with the dashboard, until Ctrl-C.")
    ] = False,
) -> None:
    """Play a month of sessions, and show what is remembered. Nothing of your own is read or written.

    What an earlier run has told is not told again. Ctrl-C stops everything.
    """
    from nextlevel import log
    from nextlevel.ops.demo.play import play

    log.setup("error")  # the roles have logs of their own
    console = Console(highlight=False)
    if console.width > WIDTH or not console.is_terminal:
        console.width = WIDTH
    try:
        asyncio.run(until_stopped(play(directory.resolve(), console, fresh=fresh, keep=keep)))
    except asyncio.CancelledError:
        console.print("Stopped; what was told is kept.")
        sys.exit(STOPPED)
