"""Whether a port can be had, asked before a server is built that would fail on it in its own words."""

from __future__ import annotations

import errno
import socket

from nextlevel.errors import Misconfigured


class PortInUse(Misconfigured):
    """Somebody else listens there; it may be about to end."""


def need(host: str, port: int) -> None:
    """See that `serve` could listen there.

    Raises:
        PortInUse: somebody else does.
        Misconfigured: nobody could: no such address, or no right to.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(
                f"port {port} on {host} is in use: stop what listens there, or set NEXTLEVEL_SERVE_PORT"
            ) from error
        raise Misconfigured(
            f"can't listen on {host} port {port} ({error.strerror}): "
            "change NEXTLEVEL_SERVE_HOST or NEXTLEVEL_SERVE_PORT"
        ) from error
