"""`nextlevel demo`: a month of sessions through everything, on this machine only."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from .commands import examples

app = typer.Typer(add_completion=False)
WIDTH = 80


@app.command(epilog=examples("nextlevel demo", "nextlevel demo --fresh"))
def demo(
    directory: Annotated[Path, typer.Option("--dir", help="Where the demo keeps its home and data.")] = Path(".demo"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew: delete what an earlier run left there.")] = False,
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
        asyncio.run(_until_stopped(play(directory.resolve(), console, fresh=fresh)))
    except asyncio.CancelledError:
        console.print("Stopped; what was told is kept.")
        sys.exit(128 + signal.SIGINT)


async def _until_stopped(playing: Coroutine[Any, Any, None]) -> None:
    """Ctrl-C and SIGTERM end the play in order; a second Ctrl-C must not break that off."""
    task = asyncio.ensure_future(playing)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lambda: None)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    await task
