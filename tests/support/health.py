"""A role for tests of the process tree: it answers /healthz on the port that the settings name, and stops when told."""

from __future__ import annotations

import signal
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from nextlevel.settings import load


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    settings = load()
    ThreadingHTTPServer((settings.serve_host, settings.serve_port), Health).serve_forever()


if __name__ == "__main__":
    main()
