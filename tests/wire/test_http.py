"""The plugin's JSON client, on servers that answer and on peers that misbehave."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from nextlevel.errors import ServiceUnreachable
from nextlevel.wire.http import JsonClient, shared
from tests.support.peers import answering, answering_once, dripping, peer, silent
from tests.support.ports import free_port

Connect = Callable[[str], JsonClient]


def answer(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


@pytest.fixture
def connect() -> Iterator[Connect]:
    made: list[JsonClient] = []

    def to(url: str) -> JsonClient:
        made.append(JsonClient(url))
        return made[-1]

    yield to
    for each in made:
        each.close()


class Echo(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    connections: set[Any]

    def do_POST(self) -> None:
        self.connections.add(self.client_address)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"asked": asked, "path": self.path, "auth": self.headers.get("Authorization")}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def test_one_connection_serves_many_requests(connect: Connect) -> None:
    """A handshake for each turn would cost more than the answer."""
    handler = type("Handler", (Echo,), {"connections": set()})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        client = connect(f"http://127.0.0.1:{server.server_port}/base/")
        for n in range(3):
            told = client.request("POST", "/v1/x", {"q": f"ö{n}\ud800"}, token="secret", timeout_s=5)
            assert {"asked": {"q": f"ö{n}?"}, "path": "/base/v1/x", "auth": "Bearer secret"} == told.body
        assert 1 == len(handler.connections)
        client.close()
        server.shutdown()
        thread.join()


def test_a_refusal_is_an_answer(connect: Connect) -> None:
    """It has a reason in it, and the service is not down: the breaker stays closed."""
    refused = answer(b'{"error": {"code": "denied", "message": "this scope is not yours"}}', status="403 Forbidden")
    with peer(answering(refused)) as service:
        client = connect(f"http://127.0.0.1:{service.port}")
        for _ in range(4):
            told = client.request("POST", "/v1/recall", {}, timeout_s=5)
        assert (False, 403, "this scope is not yours") == (told.ok, told.status, told.reason)
        assert not client.breaker.is_open


def test_a_refusal_without_words_names_its_status(connect: Connect) -> None:
    """Something must be told."""
    with peer(answering(answer(b"", status="502 Bad Gateway"))) as proxy:
        assert (
            "the service answered 502"
            == connect(f"http://127.0.0.1:{proxy.port}").request("GET", "/", timeout_s=5).reason
        )


@pytest.mark.parametrize(
    "handle", [silent, dripping(answer(b'{"context": ""}', headers="X-Pad: " + "x" * 400 + "\r\n"))]
)
def test_a_service_that_does_not_finish_costs_the_deadline(connect: Connect, handle: Callable[..., None]) -> None:
    """A dripping proxy would else hold a turn for minutes."""
    with peer(handle) as stuck, pytest.raises(ServiceUnreachable, match=r"timed out|deadline"):
        connect(f"http://127.0.0.1:{stuck.port}").request("POST", "/v1/recall", {}, timeout_s=0.2)


@pytest.mark.parametrize("broken", [b"+OK\r\n", answer(b"no json"), answer(b'{"a": 1}')[:-3], b""])
def test_what_is_no_answer_is_unreachable(connect: Connect, broken: bytes) -> None:
    """A wrong port, a proxy's page, a line cut in the middle."""
    with peer(answering_once(broken)) as wrong, pytest.raises(ServiceUnreachable):
        connect(f"http://127.0.0.1:{wrong.port}").request("GET", "/", timeout_s=5)


def test_a_json_answer_that_is_no_object_is_empty(connect: Connect) -> None:
    """Callers ask for fields; a list has none."""
    with peer(answering(answer(b"[1]"))) as service:
        assert {} == connect(f"http://127.0.0.1:{service.port}").request("GET", "/", timeout_s=5).body


def test_a_connection_that_was_dropped_while_idle_is_made_anew(connect: Connect) -> None:
    """Servers close what is idle; the next turn must not fail for it."""
    with peer(answering_once(answer(b'{"n": 1}'))) as dropping:
        client = connect(f"http://127.0.0.1:{dropping.port}")
        assert [{"n": 1}] * 3 == [client.request("GET", "/", timeout_s=5).body for _ in range(3)]
        assert 3 == dropping.connections


def test_a_dead_service_is_left_alone_after_three_failures(connect: Connect) -> None:
    """Then it costs nothing per turn."""
    client = connect(f"http://127.0.0.1:{free_port()}")
    for _ in range(3):
        with pytest.raises(ServiceUnreachable, match="does not answer"):
            client.request("GET", "/", timeout_s=5)
    with pytest.raises(ServiceUnreachable, match="left alone"):
        client.request("GET", "/", timeout_s=5)


@pytest.mark.parametrize("url", ["redis://localhost", "http://", "localhost:7717"])
def test_an_address_of_something_else_is_refused(url: str) -> None:
    """At the edge, where it can be told."""
    with pytest.raises(ValueError, match="is not http://host:port"):
        JsonClient(url)


def test_one_client_a_url_for_the_process() -> None:
    """Its breaker is everybody's: a dead service is found dead once."""
    url = f"http://127.0.0.1:{free_port()}"
    assert shared(url) is shared(url)
