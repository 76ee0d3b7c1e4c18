"""`nextlevel eval`: what the product makes of labelled files, as predictions for a scorer."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from nextlevel import jsonl
from nextlevel.errors import UnusableFile

from .commands import examples
from .stopping import STOPPED, until_stopped

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Judge the product on labelled files (JSON Lines): writes predictions that a scorer reads.\n\n"
    "Nothing of your own memory is read or changed: what needs stores gets fresh ones, thrown away afterwards. "
    "Your model settings hold: with NEXTLEVEL_LLM=off it is the rules that are judged.\n\n"
    "Exit codes: 0 done; 1 written, but turns died on the way; 2 a file can't be used; 3 something can't be reached.",
    epilog=examples(
        "nextlevel eval extraction --in sessions.jsonl --out predictions.jsonl",
        "nextlevel eval dedup --in pairs.jsonl --out predictions.jsonl",
        "nextlevel eval links --in mentions.jsonl --out predictions.jsonl",
        "nextlevel eval retrieval --out predictions.jsonl        LoCoMo, as LOCOMO names it",
    ),
)

In = Annotated[Path, typer.Option("--in", metavar="FILE", help="The labelled file.")]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where the predictions go; overwritten.")]


@app.command()
def extraction(source: In, out: Out) -> None:
    """What is remembered of each session. Blocks, with status and validity. The sessions are one user's, in order."""
    from nextlevel.ops.evaluate import worker

    jsonl.objects(source)  # what is half written is said before any store is started
    _run(worker.stored("extraction", source, _writable(out)))


@app.command()
def dedup(source: In, out: Out) -> None:
    """For each pair of facts. Whether the second is the same, an update or news."""
    from nextlevel.ops.evaluate import worker

    _run(worker.plain("dedup", source, _writable(out)))


@app.command()
def links(source: In, out: Out) -> None:
    """For each mention. The known entity that it means, or none."""
    from nextlevel.ops.evaluate import worker

    _run(worker.plain("links", source, _writable(out)))


@app.command()
def retrieval(
    out: Out,
    turns: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The turns of all conversations. Unset: LoCoMo's.")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The questions about them. Unset: LoCoMo's.")
    ] = None,
) -> None:
    """For each question. The past turns that recall gives, best first, through the served product.

    LoCoMo is looked for in the directory that LOCOMO names, else in ../shared/data/locomo beside the checkout.
    """
    from nextlevel.ops.evaluate import locomo
    from nextlevel.ops.evaluate import retrieval as served

    _writable(out)
    with tempfile.TemporaryDirectory() as kept, _bar() as bar:
        of_turns = turns or locomo.extract("turns", Path(kept))
        of_questions = questions or locomo.extract("questions", Path(kept))
        tasks: dict[str, TaskID] = {}

        def tick(what: str, done: int, total: int) -> None:
            task = tasks[what] if what in tasks else tasks.setdefault(what, bar.add_task(what))
            bar.update(task, completed=done, total=total)

        async def predict() -> int:
            typer.echo(f"{await served.predict(of_turns, of_questions, out, tick)} rankings written to {out}", err=True)
            return 0

        _run(predict())


def _writable(out: Path) -> Path:
    """Refuse an `--out` that can't be written before the work, not after it."""
    try:
        out.open("a").close()
    except OSError as error:
        raise UnusableFile(f"{out}: can't be written: {error.strerror or error}") from error
    return out


def _bar() -> Progress:
    """Bars on a terminal; elsewhere nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


def _run(work: Coroutine[Any, Any, int]) -> None:
    """Run to the end; Ctrl-C and SIGTERM stop what was started, in order."""
    from nextlevel import log

    log.setup("error")
    try:
        code = asyncio.run(until_stopped(work))
    except asyncio.CancelledError:
        typer.echo("Stopped; nothing was written.", err=True)
        code = STOPPED
    if code:
        sys.exit(code if code > 0 else 1)
