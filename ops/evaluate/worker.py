"""Extraction, dedup and links: by the workers' own code, in a process that we start."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from nextlevel.ops.up import tree

from . import ground

_ENDS_WITHIN_S = 5.0


async def plain(kind: str, source: Path, out: Path) -> int:
    """Predict what needs no stores. Returns the process's exit code."""
    return await _process(kind, source, out, os.environ)


async def stored(kind: str, source: Path, out: Path) -> int:
    """Predict on fresh stores. Returns the process's exit code."""
    with ground.fresh() as settings:
        async with tree.running(settings, roles=()):
            return await _process(kind, source, out, tree.environment(settings))


async def _process(kind: str, source: Path, out: Path, environment: Mapping[str, str]) -> int:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "nextlevel.workers.evaluate", kind, str(source), str(out), env=environment
    )
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        async with asyncio.timeout(_ENDS_WITHIN_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
