"""The command `nextlevel`. Its sub-commands come in by entry point, so that this room shows all and depends on none.

Exit codes: 0 done; 1 what was asked for failed; 2 wrong usage, settings or input; 3 what it needs can't be reached.
"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from nextlevel.errors import Misconfigured, NextLevelError, Transient, UnusableFile

from .commands import app


def main() -> None:
    try:
        app(prog_name="nextlevel")
    except NextLevelError as error:
        Console(stderr=True).print(Text(f"nextlevel: {error}", style="red"), soft_wrap=True)
        sys.exit(exit_code(error))


def exit_code(error: NextLevelError) -> int:
    """What a script learns of an error that was raised on purpose; any other is a bug and keeps its traceback."""
    if isinstance(error, Transient):
        return 3
    return 2 if isinstance(error, Misconfigured | UnusableFile) else 1
