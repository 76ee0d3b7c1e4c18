"""The help of each command, as a terminal of 100 columns shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from nextlevel.ops.cli.commands import app

from .markdown import PRINTED

_WIDTH = 100
_HEAD = """\
# The command line

`nextlevel <command> --help` prints the same. Exit codes stand in [errors.md](errors.md).

Completion: `nextlevel --install-completion` writes it for the shell you are in (bash, zsh, fish); open a new one.
`nextlevel --show-completion` prints it, to put it elsewhere.

"""


def page() -> str:
    parts = [f"## {name}\n\n```\n{text}\n```\n" for name, text in _helps("nextlevel", typer.main.get_command(app))]
    return PRINTED + _HEAD + "\n".join(parts)


def _helps(name: str, command: Any, parent: Any = None) -> Iterator[tuple[str, str]]:
    context = command.context_class(
        command, info_name=name.split()[-1], parent=parent, terminal_width=_WIDTH, max_content_width=_WIDTH
    )
    yield name, "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    for member in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _helps(f"{name} {member}", command.get_command(context, member), context)
