"""`nextlevel migrate`: bring the database to this release's schema, and let the service's role log in."""

from __future__ import annotations

import asyncio

import typer

from .commands import examples

app = typer.Typer(add_completion=False)


@app.command(epilog=examples("NEXTLEVEL_POSTGRES_ADMIN_DSN=postgresql://postgres@db.lan/nextlevel nextlevel migrate"))
def migrate() -> None:
    """Bring the database to this release's schema. `nextlevel up` does it by itself; safe to repeat.

    Where NEXTLEVEL_POSTGRES_PASSWORD is set, the role nextlevel_service gets it, to log in where one is asked for.
    """
    from nextlevel.settings import load
    from nextlevel.store import login
    from nextlevel.store.migrate import migrate as apply

    settings = load()
    applied = asyncio.run(apply(settings.need_admin()))
    for name in applied:
        typer.echo(f"applied {name}")
    if not applied:
        typer.echo("up to date")
    if settings.postgres_password is not None:
        asyncio.run(login.set_password(settings.need_admin(), settings.postgres_password.get_secret_value()))
        typer.echo(f"password of {login.ROLE} set")
