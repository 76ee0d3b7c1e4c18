"""The command `nextlevel reembed`."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from nextlevel import log, settings
from nextlevel.inference import open_embedder
from nextlevel.settings import Settings
from nextlevel.store import migrate
from nextlevel.store.pool import Database
from nextlevel.store.vectors import Counted

from . import drop_old, make_all, switch

app = typer.Typer(add_completion=False)

_INTERRUPTED = 130


@app.command(
    "reembed",
    epilog="\b\nExamples:\n  nextlevel reembed\n"
    "  NEXTLEVEL_EMBED_BASE_URL=http://gpu-box.lan:8080/v1 NEXTLEVEL_EMBED_MODEL=bge-m3 nextlevel reembed --keep",
)
def reembed(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the vectors of other models where they are.")] = False,
) -> None:
    """Embed everything by the model that the settings name. Recall goes on by the old vectors, then all switch at once.

    Safe to stop and to repeat: what is made is kept. The old vectors are removed at the end. Processes that were
    started with the new settings follow by themselves; restart the others. Exit code 3 if the model can't be asked.
    """
    log.setup("error")
    try:
        asyncio.run(_run(settings.load(), keep=keep))
    except KeyboardInterrupt:
        typer.echo("stopped; what is made is kept: run `nextlevel reembed` again to go on", err=True)
        sys.exit(_INTERRUPTED)


async def _run(ours: Settings, *, keep: bool) -> None:
    dsn = ours.need_postgres()
    await migrate.check(dsn)
    db = await Database.connect(dsn, max_size=2)
    embedder = open_embedder(ours)
    try:
        with _bar() as bar:
            blocks, past, documents = (bar.add_task(each) for each in ("blocks", "past turns", "documents"))

            def tell(now: Counted) -> None:
                bar.update(blocks, total=now.blocks, completed=now.blocks - now.blocks_waiting)
                bar.update(past, total=now.passages, completed=now.passages - now.passages_waiting)
                bar.update(documents, total=now.sections, completed=now.sections - now.sections_waiting)

            await make_all(db, embedder, tell)
        switched = await switch(db, embedder)
        typer.echo(f"recall compares by {embedder.model}" + ("" if switched else ", as before"))
        if not keep:
            typer.echo(f"vectors of other models removed: {await drop_old(db, switched=switched)}")
    finally:
        await embedder.close()
        await db.close()


def _bar() -> Progress:
    """Bars on a terminal; elsewhere nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)
