"""`nextlevel config`: each setting's value, and where it came from."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer
from pydantic import SecretStr

from nextlevel.settings import Settings

from .commands import examples
from .show import console, printable

app = typer.Typer(add_completion=False)

_PASSWORD = re.compile(r"(//[^:/?#@]*:)[^@/?#]*@")


@app.command(epilog=examples("nextlevel config", "nextlevel config --json | jq .redis_url", "nextlevel config --all"))
def config(
    context: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Also those that nobody has set.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="All of them, as JSON.")] = False,
) -> None:
    """Show the settings, and where each came from. Secrets are hidden."""
    from nextlevel.settings import config_file, load, origins

    settings = load()
    given = context.parent.params if context.parent else {}
    found = origins(settings, flags={name for name, value in given.items() if value is not None})
    values = {name: shown(settings, name) for name in found}
    if as_json:
        told = {name: {"value": values[name], "from": origin} for name, origin in found.items()}
        typer.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    out = console()
    rows = [(name, origin) for name, origin in found.items() if every or origin != "default"]
    for name, origin in rows:
        value = "–" if values[name] is None else printable(values[name])
        out.print(f"{name:<23}  {origin:<13}  {value}", soft_wrap=True)  # long addresses: copied, not cut
    there = "" if config_file().exists() else " (not there)"
    out.print(f"settings file: {config_file()}{there}", style="dim", soft_wrap=True)
    if not every:
        out.print(f"{len(found) - len(rows)} more have their default: nextlevel config --all", style="dim")


def shown(settings: Settings, name: str) -> Any:
    """A value that may be printed: what is secret in it is hidden.

    >>> shown(Settings(redis_url="rediss://:hush@queue:6380/1", secret="hush"), "redis_url")
    'rediss://:…@queue:6380/1'
    """
    value = getattr(settings, name)
    if value is None:
        value = getattr(settings.endpoints, name, None)
    if isinstance(value, SecretStr):
        return "…"
    return value if isinstance(value, int | float | None) else _PASSWORD.sub(r"\1…@", str(value))
