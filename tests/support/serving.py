"""The API on a socket of the test's own, for what speaks HTTP to it and knows no event loop."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from fastapi import FastAPI

_GRACE_S = 5


class _Server(uvicorn.Server):
    """Signals are the test run's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def on_a_socket(app: FastAPI) -> AsyncIterator[str]:
    """Serve an app that is started already; its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, lifespan="off", log_config=None, timeout_graceful_shutdown=_GRACE_S)
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
