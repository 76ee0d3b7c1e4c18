"""A service on a socket that answers what a test tells it to, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Service(ThreadingHTTPServer):
    """Answers every request with `status` and `body`."""

    status = 200
    body = b"{}"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[tuple[str, str, str | None, Any]] = []


class Answer(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = json.loads(raw) if raw else None
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization"), asked))
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(self.server.body)

    do_GET = do_POST

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def running() -> Iterator[Service]:
    """A service that listens for as long as the block runs."""
    with Service() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()
