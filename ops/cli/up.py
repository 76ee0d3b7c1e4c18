"""`nextlevel up`: everything on this machine, until Ctrl-C."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from nextlevel.errors import Misconfigured

from .commands import examples

if TYPE_CHECKING:
    from nextlevel.settings import Endpoints

app = typer.Typer(add_completion=False)


@app.command(
    epilog=examples(
        "nextlevel up",
        "nextlevel --data-dir ./memory up --port 7800",
        "NEXTLEVEL_POSTGRES_DSN=postgresql://… nextlevel up    with a Postgres of your own",
    )
)
def up(
    port: Annotated[
        int | None,
        typer.Option(help="Port of the recall service (NEXTLEVEL_SERVE_PORT).", min=1, max=65535, show_default=False),
    ] = None,
) -> None:
    """Start everything on this machine. Ctrl-C stops it.

    That is: the stores, the schema, and the roles work, serve and relay. Postgres and Valkey are embedded unless their
    addresses are set. Whatever dies is started again. What is remembered stays in the data directory.
    """
    if sys.platform == "win32":
        raise Misconfigured("on Windows run `nextlevel up` in WSL2; only the Hermes plugin runs natively")
    from nextlevel import log
    from nextlevel.ops.up import tree
    from nextlevel.settings import load

    settings = load(serve_port=port)
    log.setup(settings.log_level)
    console = Console(stderr=True, highlight=False)
    since = time.monotonic()

    def progress(part: str, text: str) -> None:
        console.print(f"  [cyan]{part:<9}[/] {text}", soft_wrap=True)

    def ready(endpoints: Endpoints) -> None:
        console.print(
            f"[bold green]Ready[/] in {time.monotonic() - since:.1f} s: {endpoints.service_url}", soft_wrap=True
        )
        console.print(f"Logs are in {settings.data_dir / 'logs'}. Ctrl-C stops everything.", soft_wrap=True)

    sys.exit(asyncio.run(tree.run(settings, progress=progress, on_ready=ready)))
