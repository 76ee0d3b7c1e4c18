"""The roles as processes of their own, as a fleet runs them: their environment is all that they are told."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

STOPS_WITHIN_S = 10.0


@asynccontextmanager
async def role(
    module: str, *arguments: str, environment: Mapping[str, str]
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`python -m <module>` for as long as the block runs; its log goes to ours."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, env={**os.environ, **environment}, stdin=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), STOPS_WITHIN_S)
