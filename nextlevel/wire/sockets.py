"""Sockets that keep a total deadline: for the name look-up, the connect, and every byte after it.

A timeout on a socket bounds one `recv`; a server that drips one byte at a time would hold its caller for ever. Here the
time left is set anew before each call.
"""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

_RESOLVED_FOR_S = 60.0


class Deadline:
    """A moment that a whole conversation must not outlast."""

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds left.

        Raises:
            TimeoutError: none are.
        """
        left = self._at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the deadline has passed")
        return left


class _KeepsDeadline(socket.socket):
    deadline: Deadline | None = None

    def recv_into(self, *args: Any, **kwargs: Any) -> int:
        self._set_timeout()
        return super().recv_into(*args, **kwargs)

    def send(self, *args: Any, **kwargs: Any) -> int:
        self._set_timeout()
        return super().send(*args, **kwargs)

    def sendall(self, *args: Any, **kwargs: Any) -> None:
        self._set_timeout()
        return super().sendall(*args, **kwargs)

    def _set_timeout(self) -> None:
        if self.deadline is not None:
            self.settimeout(self.deadline.left())


class DeadlineSocket(_KeepsDeadline):
    """A stream socket whose `deadline` holds for all that is read and written through it."""


class DeadlineTLSSocket(_KeepsDeadline, ssl.SSLSocket):
    """The same over TLS."""


def wrap_tls(sock: DeadlineSocket, host: str, deadline: Deadline) -> DeadlineTLSSocket:
    """TLS over a connected socket, the certificate checked against `host`.

    Raises:
        OSError: the handshake fails or takes too long.
    """
    context = ssl.create_default_context()
    context.sslsocket_class = DeadlineTLSSocket
    sock.settimeout(deadline.left())
    wrapped = context.wrap_socket(sock, server_hostname=host)
    assert isinstance(wrapped, DeadlineTLSSocket)  # noqa: S101 - for the type checker
    wrapped.deadline = deadline
    return wrapped


def connect_tcp(host: str, port: int, deadline: Deadline) -> DeadlineSocket:
    """Connect to the first address of `host` that answers.

    Raises:
        OSError: none does in time; TimeoutError is one.
    """
    failure: OSError = OSError(f"{host} has no address")
    for family, address in _addresses(host, port, deadline):
        sock = DeadlineSocket(family, socket.SOCK_STREAM)
        try:
            _connect(sock, address, deadline)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


def connect_unix(path: str, deadline: Deadline) -> DeadlineSocket:
    """Connect to a unix socket.

    Raises:
        OSError: it does not answer, or the platform has none.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this platform has no unix sockets; use redis://")
    sock = DeadlineSocket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _connect(sock, path, deadline)
    except OSError:
        sock.close()
        raise
    return sock


def _connect(sock: DeadlineSocket, address: Any, deadline: Deadline) -> None:
    sock.deadline = deadline
    sock.settimeout(deadline.left())
    sock.connect(address)


_resolved: dict[tuple[str, int], tuple[float, list[tuple[int, Any]]]] = {}


def _addresses(host: str, port: int, deadline: Deadline) -> list[tuple[int, Any]]:
    known = _resolved.get((host, port))
    if known is not None and known[0] > time.monotonic():
        return known[1]
    # getaddrinfo takes no timeout, and a dead resolver holds it for seconds: so it runs aside, and what it finds after
    # the deadline serves the next caller.
    outcome: list[OSError] = []
    done = threading.Event()
    threading.Thread(target=_resolve, args=(host, port, outcome, done), name="nextlevel-dns", daemon=True).start()
    if not done.wait(deadline.left()):
        raise TimeoutError(f"no address for {host} in time")
    if outcome:
        raise outcome[0]
    return _resolved[host, port][1]


def _resolve(host: str, port: int, outcome: list[OSError], done: threading.Event) -> None:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        _resolved[host, port] = (time.monotonic() + _RESOLVED_FOR_S, [(int(i[0]), i[4]) for i in found])
    except (OSError, UnicodeError) as error:
        outcome.append(error if isinstance(error, OSError) else OSError(str(error)))
    finally:
        done.set()


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class Pool(Generic[C]):
    """Idle connections to one server, shared by the process. A caller owns what it took: nobody waits for another."""

    def __init__(self, connect: Callable[[Deadline], C], *, keep: int = 4) -> None:
        self._connect, self._keep = connect, keep
        self._idle: list[C] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def take(self, deadline: Deadline, *, fresh: bool = False) -> tuple[C, bool]:
        """A connection, and whether it was used before: then the server may have closed it since."""
        with self._lock:
            if self._pid != os.getpid():  # after a fork the connections are the parent's
                self._idle, self._pid = [], os.getpid()
            if self._idle and not fresh:
                return self._idle.pop(), True
        return self._connect(deadline), False

    def give(self, connection: C) -> None:
        with self._lock:
            if len(self._idle) < self._keep and self._pid == os.getpid():
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close what is idle; what is in use is closed by who uses it."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
