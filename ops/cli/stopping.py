"""Ctrl-C and SIGTERM, for commands that start what must be stopped in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

STOPPED = 128 + signal.SIGINT
"""The exit code of a command that was stopped."""


async def until_stopped(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end. A signal cancels `work`, which stops what it started; a second one must not break that off.

    Raises:
        CancelledError: it was stopped.
    """
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lambda: None)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    return await task
