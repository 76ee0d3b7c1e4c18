"""The command line, as a person runs it."""

from __future__ import annotations

import asyncio
import io
import os
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from typing import TypeAlias

import pytest

from nextlevel.ops.cli import main

Said: TypeAlias = tuple[int, str, str]
"""Exit code, standard output, standard error."""


async def nextlevel(*words: str, **environment: str) -> Said:
    """Run a command that ends by itself. In this process: a new one takes a second to import what is here already."""
    return await asyncio.to_thread(_run, words, environment)


async def process(*words: str, **environment: str) -> Said:
    """Run a command in a process of its own: one that takes signals, or starts others."""
    started = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from nextlevel.ops.cli import main; main()",
        *words,
        env=os.environ | {"COLUMNS": "100"} | environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await started.communicate()
    return started.returncode or 0, out.decode(), err.decode()


def _run(words: tuple[str, ...], environment: dict[str, str]) -> Said:
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in {"COLUMNS": "100", **environment}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["nextlevel", *words])
        patch.setattr(sys, "stdin", io.StringIO())
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        except Exception:
            traceback.print_exc()
            code = 1
    return code, out.getvalue(), err.getvalue()
