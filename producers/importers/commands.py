"""`nextlevel import …`: bring in what was said and noted before."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeRemainingColumn

from nextlevel.errors import Misconfigured

from ..commands import home_of
from ..hermes import builtin
from ..hermes.home import of
from ..hermes.speaker import Speaker
from .backfill import Progress, history

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Bring in what was said and noted before.")

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="The agent's home. Default: $HERMES_HOME, else ~/.hermes.")
]


@app.command("hermes", epilog="It may be broken off and repeated: nothing comes twice, and dates stay as they were.")
def import_hermes(home: HomeOption = None) -> None:
    """Bring in the sessions that Hermes keeps, also while it runs. They are remembered behind what is said now."""
    path = home_of(home)
    _must_remember(path)
    done = asyncio.run(_with_a_bar(path))
    typer.echo(
        f"{done.sessions} sessions: {done.new} turns brought in, {done.known} were known, "
        f"{done.undone} taken back, {done.left_out} off the record"
    )


@app.command("core")
def import_core(home: HomeOption = None) -> None:
    """Bring in MEMORY.md and USER.md as they are now. The plugin does it too, after each turn."""
    path = home_of(home)
    _must_remember(path)
    found = of(path)
    builtin.look(found, Speaker(), "import")
    typer.echo(f"{found.counters['core_added']} entries brought in, {found.counters['core_removed']} taken back")


def _must_remember(path: Path) -> None:
    if of(path).config.paused:
        raise Misconfigured("memory is paused in this home; `hermes nextlevel resume` ends that")


async def _with_a_bar(path: Path) -> Progress:
    done = Progress()
    columns = (SpinnerColumn(), TextColumn("{task.completed}/{task.total} sessions, {task.fields[turns]} turns"))
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("import", total=None, turns=0)
        async for done in history(path):
            bar.update(task, completed=done.sessions, total=done.of, turns=done.new + done.known)
    return done
