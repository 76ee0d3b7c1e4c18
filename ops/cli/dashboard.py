"""`nextlevel dashboard`: where it is, and what opens it from elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

from .commands import examples

app = typer.Typer(add_completion=False)


@app.command(epilog=examples("nextlevel dashboard", "nextlevel dashboard --token"))
def dashboard(
    token: Annotated[bool, typer.Option("--token", help="Print the operator's token, which logs in, instead.")] = False,
) -> None:
    """Print the dashboard's address. On the machine that serves it opens without a login."""
    from nextlevel import auth
    from nextlevel.ops.dashboard import HOME
    from nextlevel.settings import load

    settings = load()
    if token:
        typer.echo(auth.token(auth.secret_of(settings), auth.OPERATOR))
        return
    typer.echo(f"{settings.need_service().rstrip('/')}{HOME}/")
