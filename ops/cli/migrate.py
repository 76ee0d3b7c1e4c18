"""`nextlevel migrate`: bring the database to this release's schema."""

from __future__ import annotations

import asyncio

import typer

from .commands import examples

app = typer.Typer(add_completion=False)


@app.command(epilog=examples("NEXTLEVEL_POSTGRES_ADMIN_DSN=postgresql://postgres@db.lan/nextlevel nextlevel migrate"))
def migrate() -> None:
    """Bring the database to this release's schema. `nextlevel up` does it by itself; safe to repeat."""
    from nextlevel.settings import load
    from nextlevel.store.migrate import migrate as apply

    applied = asyncio.run(apply(load().need_admin()))
    for name in applied:
        typer.echo(f"applied {name}")
    if not applied:
        typer.echo("up to date")
