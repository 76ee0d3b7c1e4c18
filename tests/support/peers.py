"""A server on a socket that behaves as a test says: silent, slow, broken off."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Peer:
    """A listening socket; `handle` is run for each connection, on a thread of its own."""

    def __init__(self, handle: Callable[[socket.socket], None]) -> None:
        self._handle = handle
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0
        self._open: list[socket.socket] = []

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                self._open.append(connection)
                threading.Thread(target=self._serve_one, args=(connection,), daemon=True).start()

    def _serve_one(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            self._handle(connection)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            connection.close()


@contextmanager
def peer(handle: Callable[[socket.socket], None]) -> Iterator[Peer]:
    """A peer that listens for as long as the block runs."""
    made = Peer(handle)
    thread = threading.Thread(target=made.serve, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.close()
        thread.join(5)


def silent(connection: socket.socket) -> None:
    """Takes all and answers nothing."""
    while connection.recv(65_536):
        pass


def dripping(drops: bytes) -> Callable[[socket.socket], None]:
    """Answers a byte every 20 ms, so that each single read is in time."""

    def drip(connection: socket.socket) -> None:
        connection.recv(65_536)
        stop = threading.Event()
        for drop in drops:
            connection.sendall(bytes([drop]))
            stop.wait(0.02)

    return drip


def answering(answer: bytes) -> Callable[[socket.socket], None]:
    """Answers everything with the same bytes, and keeps the connection."""

    def answer_all(connection: socket.socket) -> None:
        while connection.recv(65_536):
            connection.sendall(answer)

    return answer_all


def answering_once(answer: bytes) -> Callable[[socket.socket], None]:
    """Answers once and hangs up, as a server that drops idle connections."""

    def answer_once(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(answer)
        connection.close()

    return answer_once
