"""Redis and Valkey on the standard library: RESP2, a pipeline at a time, for the few commands that the plugin needs.

`redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS, certificate checked), `unix:///path[?db=n]`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from nextlevel.errors import QueueUnreachable

from .breaker import Breaker
from .sockets import Deadline, DeadlineSocket, DeadlineTLSSocket, Pool, connect_tcp, connect_unix, wrap_tls

Argument = bytes | str | int
Command = Sequence[Argument]


class Refused(QueueUnreachable):
    """Redis answered with an error, such as OOM or NOAUTH; the connection stays good."""


class _Connection:
    """One connection, greeted (AUTH, SELECT) and ready."""

    def __init__(self, url: SplitResult, deadline: Deadline) -> None:
        self._sock = _open(url, deadline)
        self._file = self._sock.makefile("rb")
        try:
            if greeting := _greeting(url):
                for reply in self.exchange(greeting, deadline):
                    if isinstance(reply, Refused):
                        raise reply
        except BaseException:
            self.close()
            raise

    def exchange(self, commands: Sequence[Command], deadline: Deadline) -> list[Any]:
        self._sock.deadline = deadline
        self._sock.sendall(b"".join(_packed(command) for command in commands))
        return [self._read() for _ in commands]

    def _read(self) -> Any:
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b"-":
            return Refused(rest.decode("utf-8", "replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self._exactly(int(rest))
        if kind == b"*":
            return None if rest == b"-1" else [self._read() for _ in range(int(rest))]
        raise ConnectionError(f"this is no RESP: {line[:40]!r}")

    def _exactly(self, size: int) -> bytes:
        data = self._file.read(size + 2)
        if len(data) != size + 2:
            raise ConnectionError("Redis closed the connection")
        return data[:-2]

    def close(self) -> None:
        self._file.close()
        self._sock.close()


class Redis:
    """A client for one url. Thread-safe; safe after a fork."""

    def __init__(self, url: str) -> None:
        split = urlsplit(url)
        if split.scheme not in ("redis", "rediss", "unix"):
            raise ValueError(f"{split.scheme}:// is not redis://, rediss:// or unix://")
        self._pool: Pool[_Connection] = Pool(lambda deadline: _Connection(split, deadline))
        self.breaker = Breaker()

    def call(self, *command: Argument, timeout_s: float) -> Any:
        """The reply to one command: bytes, int, list or None.

        Raises:
            QueueUnreachable: no answer within `timeout_s` seconds, or an error as the answer.
        """
        return self.pipeline([command], timeout_s=timeout_s)[0]

    def pipeline(self, commands: Sequence[Command], *, timeout_s: float) -> list[Any]:
        """The replies to several commands, sent at once.

        Raises:
            QueueUnreachable: as for `call`; some of the commands may have been carried out.
        """
        if not self.breaker.allows():
            raise QueueUnreachable("Redis failed three times in a row; it is left alone for five seconds")
        try:
            replies = self._exchange(commands, Deadline(timeout_s))
        except (OSError, ValueError) as error:
            self.breaker.failed()
            raise QueueUnreachable(f"Redis does not answer: {error or type(error).__name__}") from error
        self.breaker.succeeded()
        for reply in replies:
            if isinstance(reply, Refused):
                raise reply
        return replies

    def close(self) -> None:
        """Close the idle connections; the next call opens one again."""
        self._pool.close()

    def _exchange(self, commands: Sequence[Command], deadline: Deadline) -> list[Any]:
        connection, used = self._pool.take(deadline)
        try:
            return self._exchange_on(connection, commands, deadline)
        except ConnectionError:
            if not used:
                raise
        # It was an idle connection that Redis closed since. What arrives twice by this is known by its id.
        connection, _ = self._pool.take(deadline, fresh=True)
        return self._exchange_on(connection, commands, deadline)

    def _exchange_on(self, connection: _Connection, commands: Sequence[Command], deadline: Deadline) -> list[Any]:
        try:
            replies = connection.exchange(commands, deadline)
        except BaseException:
            connection.close()
            raise
        self._pool.give(connection)
        return replies


def _open(url: SplitResult, deadline: Deadline) -> DeadlineSocket | DeadlineTLSSocket:
    if url.scheme == "unix":
        return connect_unix(unquote(url.path), deadline)
    host = url.hostname or "127.0.0.1"
    sock = connect_tcp(host, url.port or 6379, deadline)
    return wrap_tls(sock, host, deadline) if url.scheme == "rediss" else sock


def _greeting(url: SplitResult) -> list[Command]:
    commands: list[Command] = []
    if url.password is not None:
        user = [unquote(url.username)] if url.username else []
        commands.append(["AUTH", *user, unquote(url.password)])
    database = parse_qs(url.query).get("db", ["0"])[0] if url.scheme == "unix" else url.path.strip("/") or "0"
    if int(database):
        commands.append(["SELECT", int(database)])
    return commands


def _packed(command: Command) -> bytes:
    parts = [part if isinstance(part, bytes) else str(part).encode() for part in command]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


_clients: dict[str, Redis] = {}
_lock = threading.Lock()


def shared(url: str) -> Redis:
    """The process's one client for a url.

    Raises:
        ValueError: the url is none of Redis.
    """
    with _lock:
        if url not in _clients:
            _clients[url] = Redis(url)
        return _clients[url]
