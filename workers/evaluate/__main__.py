"""`python -m nextlevel.workers.evaluate KIND IN OUT`: one labelled file in, its predictions out.

Exit codes: 0 done; 1 written, but turns died on the way; 2 the input can't be used; 3 a store or model can't be
reached; 130 stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nextlevel import jsonl, log, settings
from nextlevel.errors import NextLevelError, Transient

from . import dedup, extraction, links
from .formats import Mention, Pair, Session


def main() -> int:
    parser = argparse.ArgumentParser(prog="nextlevel eval", description=__doc__)
    parser.add_argument("kind", choices=("extraction", "dedup", "links"))
    parser.add_argument("source", type=Path, metavar="IN")
    parser.add_argument("out", type=Path, metavar="OUT")
    arguments = parser.parse_args()
    log.setup("error")  # what goes wrong with a turn is told at the end; the bar needs the line
    try:
        return _run(arguments.kind, arguments.source, arguments.out)
    except NextLevelError as error:
        print(f"nextlevel eval: {error}", file=sys.stderr)
        return 3 if isinstance(error, Transient) else 2
    except KeyboardInterrupt:
        return 130


def _run(kind: str, source: Path, out: Path) -> int:
    if kind == "extraction":
        return _extraction(jsonl.read(source, Session), out)
    rows = (
        [dedup.predict(pair) for pair in jsonl.read(source, Pair)]
        if kind == "dedup"
        else [links.predict(case) for case in jsonl.read(source, Mention)]
    )
    _write(out, rows)
    return 0


def _extraction(sessions: list[Session], out: Path) -> int:
    with _bar() as bar:
        task = bar.add_task("turns", total=sum(len(session.turns) for session in sessions))
        found = asyncio.run(extraction.predict(settings.load(), sessions, lambda: bar.advance(task)))
    _write(out, found.rows)
    for reason in found.dead:
        print(f"turn dead, which is a fault of ours: {reason}", file=sys.stderr)
    return 1 if found.dead else 0


def _write(out: Path, rows: list[dict[str, Any]]) -> None:
    jsonl.write(out, rows)
    print(f"{len(rows)} predictions written to {out}", file=sys.stderr)


def _bar() -> Progress:
    """A bar on a terminal; elsewhere nothing."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


if __name__ == "__main__":
    sys.exit(main())
