"""Finds the commands: each entry point of the group `nextlevel.commands` is a typer.Typer, imported when asked for."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

GROUP = "nextlevel.commands"


class Commands(TyperGroup):
    """A group whose members are entry points."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(importlib.metadata.entry_points(group=GROUP).names)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for point in importlib.metadata.entry_points(group=GROUP, name=cmd_name):
            command = typer.main.get_command(point.load())
            command.name = cmd_name
            return _plain(command)
        return None


def examples(*lines: str) -> str:
    """An epilog that shows a command in use, a line each, as it stands."""
    return "\n  ".join(("\b\nExamples:", *lines))


def _plain(command: Any) -> Any:
    """Help without boxes, for whichever room a command comes from: boxes break examples and leave no room for words."""
    command.rich_markup_mode = None
    for member in getattr(command, "commands", {}).values():
        _plain(member)
    return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Long-term memory for Hermes Agent: automatic, structured, yours.\n\n"
    "Exit codes: 0 done; 1 what was asked for failed; 2 wrong usage, settings or input; "
    "3 what it needs can't be reached.",
    epilog=examples(
        "nextlevel up                          start everything on this machine",
        "nextlevel status                      what waits where, and since when",
        "nextlevel recall 'port of the crm'    what is known, and why",
    ),
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(importlib.metadata.version("hermes-nextlevel"))
        raise typer.Exit


@app.callback()
def root(
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Where the embedded stores and the secret live (NEXTLEVEL_DATA_DIR).", show_default=False),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    if data_dir is not None:
        os.environ["NEXTLEVEL_DATA_DIR"] = str(data_dir)  # for this command and for every process it starts
