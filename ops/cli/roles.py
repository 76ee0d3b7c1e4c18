"""`nextlevel work`, `serve`, `relay`: one role in this process, as `up` runs it; for machines with one duty each."""

from __future__ import annotations

import runpy
import sys
from typing import Annotated

import typer

from .commands import examples

work = typer.Typer(add_completion=False)
serve = typer.Typer(add_completion=False)
relay = typer.Typer(add_completion=False)


@work.command(
    "work",
    epilog=examples(
        "NEXTLEVEL_POSTGRES_DSN=… NEXTLEVEL_REDIS_URL=redis://queue.lan:6379 nextlevel work",
        "nextlevel work --only extract                beside the model, on a machine of its own",
        "nextlevel work --only ingest,link,store      the rest, as often as needed",
    ),
)
def run_work(
    only: Annotated[
        str | None, typer.Option(help="Parts to run: some of ingest,extract,link,store.", show_default="all")
    ] = None,
) -> None:
    """Turn events into memory. Ingest, the stages, the reconciler; any number may run."""
    _run("nextlevel.workers", *([] if only is None else ["--only", only]))


@serve.command("serve", epilog=examples("NEXTLEVEL_SERVE_HOST=0.0.0.0 nextlevel serve"))
def run_serve() -> None:
    """Answer recall and the HTTP API."""
    _run("nextlevel.ops.serve")


@relay.command("relay", epilog=examples("nextlevel relay"))
def run_relay() -> None:
    """Deliver the outboxes of the agents on this machine. One a machine."""
    _run("nextlevel.producers.relay")


def _run(module: str, *arguments: str) -> None:
    # By name: ops starts roles and imports none. Its arguments are its own; ours were read.
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
