"""JSON over one kept HTTP connection, on the standard library's http.client, with a total deadline for each request."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from nextlevel.errors import ServiceUnreachable

from .breaker import Breaker
from .sockets import Deadline, DeadlineSocket, DeadlineTLSSocket, Pool, connect_tcp, wrap_tls

_MAX_ANSWER_BYTES = 16 * 1024 * 1024


class Answer:
    """Status and JSON object of an answer; `body` is {} where there was none."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        self.status, self.body = status, body

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def reason(self) -> str:
        """Why it was refused, in the service's words."""
        error = self.body.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        return str(message or f"the service answered {self.status}")


class _Request(NamedTuple):
    method: str
    path: str
    data: bytes | None
    headers: dict[str, str]


class _Connection(http.client.HTTPConnection):
    sock: DeadlineSocket | DeadlineTLSSocket

    def __init__(self, scheme: str, host: str, port: int, deadline: Deadline) -> None:
        super().__init__(host, port)
        sock = connect_tcp(host, port, deadline)
        self.sock = wrap_tls(sock, host, deadline) if scheme == "https" else sock


class JsonClient:
    """A client for one service. Thread-safe; safe after a fork. Its breaker is shared by all who use it."""

    def __init__(self, url: str) -> None:
        split = urlsplit(url)
        if split.scheme not in ("http", "https") or not split.hostname:
            raise ValueError(f"{url!r} is not http://host:port")
        scheme, host, port = split.scheme, split.hostname, split.port or (443 if split.scheme == "https" else 80)
        self._prefix = split.path.rstrip("/")
        self._pool: Pool[_Connection] = Pool(lambda deadline: _Connection(scheme, host, port, deadline))
        self.breaker = Breaker()

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, token: str = "", timeout_s: float
    ) -> Answer:
        """Ask once. An answer of any status is an answer, also a refusal.

        Raises:
            ServiceUnreachable: no answer within `timeout_s` seconds, or none that is JSON, or the breaker is open.
        """
        if not self.breaker.allows():
            raise ServiceUnreachable("the service failed again and again; it is left alone for five seconds")
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {} if data is None else {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            answer = self._ask(_Request(method, self._prefix + path, data, headers), Deadline(timeout_s))
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            self.breaker.failed(late=isinstance(error, TimeoutError))
            raise ServiceUnreachable(f"the service does not answer: {error or type(error).__name__}") from error
        self.breaker.succeeded()
        return answer

    def close(self) -> None:
        """Close the idle connections; the next request opens one again."""
        self._pool.close()

    def _ask(self, request: _Request, deadline: Deadline) -> Answer:
        connection, used = self._pool.take(deadline)
        try:
            return self._exchange(connection, request, deadline)
        except (ConnectionError, http.client.BadStatusLine):
            if not used:
                raise
        # It was an idle connection that the service closed since.
        connection, _ = self._pool.take(deadline, fresh=True)
        return self._exchange(connection, request, deadline)

    def _exchange(self, connection: _Connection, request: _Request, deadline: Deadline) -> Answer:
        try:
            connection.sock.deadline = deadline
            connection.request(request.method, request.path, body=request.data, headers=request.headers)
            response = connection.getresponse()
            raw = response.read(_MAX_ANSWER_BYTES)
            keep = response.isclosed() and not response.will_close
            document = json.loads(raw) if raw else {}
        except BaseException:
            connection.close()
            raise
        if keep:
            self._pool.give(connection)
        else:
            connection.close()
        return Answer(response.status, document if isinstance(document, dict) else {})


_clients: dict[str, JsonClient] = {}
_lock = threading.Lock()


def shared(url: str) -> JsonClient:
    """The process's one client for a url.

    Raises:
        ValueError: the url is none.
    """
    with _lock:
        if url not in _clients:
            _clients[url] = JsonClient(url)
        return _clients[url]
