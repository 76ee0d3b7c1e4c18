"""`python -m nextlevel.ops.serve`: the API and the dashboard in one process.

It starts while the stores are down, and ends within 5 s of being told.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Iterator

import uvicorn
import uvloop

from nextlevel import log
from nextlevel.api import create_app
from nextlevel.auth import secret_of
from nextlevel.errors import NextLevelError
from nextlevel.settings import Settings, load

from . import garbage, port
from .cli import exit_code
from .dashboard import Dashboard, mount

_GRACE_S = 3  # for requests in flight; the rest of the 5 s closes the stores


class _Server(uvicorn.Server):
    """uvicorn, but a stop that was asked for is a clean exit: its own handler raises the signal again at the end."""

    def __init__(self, config: uvicorn.Config, dashboard: Dashboard) -> None:
        super().__init__(config)
        self._dashboard = dashboard

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stop)
        yield

    def _stop(self) -> None:
        self._dashboard.stop()  # its live streams never end by themselves
        self.should_exit = True


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        Misconfigured: no address of a store is known, the secret can't be read, or the port can't be had.
    """
    # Here, where the message is short, not in a server's traceback.
    settings.need_postgres(), settings.need_redis(), secret_of(settings)
    port.need(settings.serve_host, settings.serve_port)
    app = create_app(settings)
    dashboard = mount(app)
    config = uvicorn.Config(
        app,
        host=settings.serve_host,
        port=settings.serve_port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(_Server(config, dashboard)))


async def _run(server: _Server) -> None:
    with garbage.short_passes():
        whole = asyncio.create_task(garbage.whole_passes())
        try:
            await server.serve()
        finally:
            whole.cancel()


def main() -> int:
    try:
        settings = load()
        log.setup(settings.log_level)
        serve(settings)
    except NextLevelError as error:
        print(f"nextlevel serve: {error}", file=sys.stderr)
        return exit_code(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
