"""The plugin's Redis client, on a real Valkey and on peers that misbehave."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trustme
from redis import Redis as Client

from nextlevel.errors import QueueUnreachable
from nextlevel.wire.resp import Redis, Refused, shared
from tests.support.peers import answering, answering_once, dripping, peer, silent
from tests.support.ports import free_port
from tests.support.stores import TestValkey

Connect = Callable[[str], Redis]


@pytest.fixture
def connect() -> Iterator[Connect]:
    made: list[Redis] = []

    def to(url: str) -> Redis:
        made.append(Redis(url))
        return made[-1]

    yield to
    for each in made:
        each.close()


def test_values_come_back_as_they_were_set(valkey: TestValkey, connect: Connect) -> None:
    """Bytes, numbers, nothing, and lists of them; also what looks like the protocol itself."""
    redis = connect(valkey.url)
    awkward = b"\r\n$-1\r\n\x00\xff"
    assert b"OK" == redis.call("SET", "k", awkward, timeout_s=5)
    assert awkward == redis.call("GET", "k", timeout_s=5)
    assert [awkward, None] == redis.call("MGET", "k", "none", timeout_s=5)
    assert 1 == redis.call("INCR", "n", timeout_s=5)
    with Client.from_url(valkey.url) as other:
        assert awkward == other.get("k")


def test_a_pipeline_answers_in_order(valkey: TestValkey, connect: Connect) -> None:
    """One round trip for a whole batch of events."""
    redis = connect(valkey.url)
    ids = redis.pipeline([["XADD", "s", "*", "e", f"{n}"] for n in range(100)], timeout_s=5)
    assert sorted(ids, key=lambda entry: [int(part) for part in entry.split(b"-")]) == ids
    assert 100 == redis.call("XLEN", "s", timeout_s=5)


def test_an_error_is_told_and_the_connection_stays_good(valkey: TestValkey, connect: Connect) -> None:
    """OOM comes as an error too: the turns stay where they are."""
    redis = connect(valkey.url)
    redis.call("SET", "k", "text", timeout_s=5)
    with pytest.raises(Refused, match="WRONGTYPE"):
        redis.call("XLEN", "k", timeout_s=5)
    assert b"text" == redis.call("GET", "k", timeout_s=5)


def test_a_database_is_selected(valkey: TestValkey, connect: Connect) -> None:
    """A url names the database: redis:// in its path, unix:// in its query."""
    connect(f"{valkey.url.partition('?')[0]}?db=3").call("SET", "k", "three", timeout_s=5)
    with Client.from_url(valkey.url, db=3) as third:
        assert b"three" == third.get("k")


@pytest.mark.parametrize(("credentials", "works"), [("nl:p%40ss@", True), ("nl:wrong@", False), ("", False)])
def test_a_password_is_given_at_once(own_valkey: TestValkey, connect: Connect, credentials: str, works: bool) -> None:
    """A shared Redis asks for one; without it nothing is sent and nothing is lost."""
    port = free_port()
    with Client.from_url(own_valkey.url) as admin:
        admin.config_set("port", port)
        admin.acl_setuser("nl", enabled=True, passwords=["+p@ss"], commands=["+@all"], keys=["*"])
        admin.acl_setuser("default", enabled=False)
    redis = connect(f"redis://{credentials}127.0.0.1:{port}/1")
    if works:
        assert b"PONG" == redis.call("PING", timeout_s=5)
    else:
        with pytest.raises(QueueUnreachable):
            redis.call("PING", timeout_s=5)


@pytest.mark.parametrize("handle", [silent, dripping(b"$200\r\n" + b"x" * 400)])
def test_a_peer_that_does_not_finish_costs_the_deadline(connect: Connect, handle: Callable[..., None]) -> None:
    """A timeout on the socket alone would start anew with each byte."""
    with peer(handle) as stuck, pytest.raises(QueueUnreachable, match=r"timed out|deadline"):
        connect(f"redis://127.0.0.1:{stuck.port}").call("GET", "k", timeout_s=0.2)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"$5\r\nab", b"$x\r\n", b""])
def test_what_is_no_redis_is_unreachable(connect: Connect, answer: bytes) -> None:
    """A wrong port is told, not waited for."""
    with peer(answering_once(answer)) as wrong, pytest.raises(QueueUnreachable):
        connect(f"redis://127.0.0.1:{wrong.port}").call("GET", "k", timeout_s=5)


def test_a_connection_that_was_dropped_while_idle_is_made_anew(connect: Connect) -> None:
    """Redis's `timeout` closes what is idle; the next turn must not fail for it."""
    with peer(answering_once(b"+PONG\r\n")) as dropping:
        redis = connect(f"redis://127.0.0.1:{dropping.port}")
        assert [b"PONG"] * 3 == [redis.call("PING", timeout_s=5) for _ in range(3)]
        assert 3 == dropping.connections


def test_threads_do_not_wait_for_each_other(connect: Connect) -> None:
    """prefetch must not queue behind a drain."""
    with peer(answering(b"+PONG\r\n")) as server:
        redis = connect(f"redis://127.0.0.1:{server.port}")
        answers: list[object] = []
        threads = [threading.Thread(target=lambda: answers.append(redis.call("PING", timeout_s=5))) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(10)
    assert [b"PONG"] * 8 == answers


def test_a_dead_server_is_left_alone_after_three_failures(connect: Connect) -> None:
    """Then it costs nothing per turn."""
    redis = connect(f"redis://127.0.0.1:{free_port()}")
    for _ in range(3):
        with pytest.raises(QueueUnreachable, match="does not answer"):
            redis.call("PING", timeout_s=5)
    with pytest.raises(QueueUnreachable, match="left alone"):
        redis.call("PING", timeout_s=5)


def test_a_name_that_does_not_resolve_is_unreachable(connect: Connect) -> None:
    """The look-up is part of the deadline: a dead resolver would hold the caller for seconds."""
    with pytest.raises(QueueUnreachable):
        connect("redis://no-such-host.invalid:6379").call("PING", timeout_s=0.5)


def test_a_forked_child_does_not_use_its_parents_connection(valkey: TestValkey, connect: Connect) -> None:
    """Two processes on one connection would read each other's answers."""
    redis = connect(valkey.url)
    parent = redis.call("CLIENT", "ID", timeout_s=5)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, str(redis.call("CLIENT", "ID", timeout_s=5)).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        assert str(parent) != told.read()
    os.waitpid(child, 0)
    assert parent == redis.call("CLIENT", "ID", timeout_s=5)


@pytest.mark.parametrize("trusted", [True, False])
def test_tls_checks_who_answers(
    connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    """rediss:// to a stranger would hand over the password and the turns."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (authority if trusted else trustme.CA()).issue_cert("127.0.0.1").configure_cert(server)

    def over_tls(connection: socket.socket) -> None:
        with server.wrap_socket(connection, server_side=True) as wrapped:
            answering(b"+PONG\r\n")(wrapped)

    with peer(over_tls) as redis:
        client = connect(f"rediss://127.0.0.1:{redis.port}")
        if trusted:
            assert b"PONG" == client.call("PING", timeout_s=5)
        else:
            with pytest.raises(QueueUnreachable, match="certificate verify failed"):
                client.call("PING", timeout_s=5)


def test_an_address_of_something_else_is_refused() -> None:
    """At the edge, where it can be told."""
    with pytest.raises(ValueError, match="http:// is not redis://"):
        Redis("http://localhost")


def test_one_client_a_url_for_the_process() -> None:
    """An API server makes a provider for each request; sockets must not pile up."""
    url = f"redis://127.0.0.1:{free_port()}"
    assert shared(url) is shared(url)


def test_the_embedded_valkey_is_reached_by_its_socket(valkey: TestValkey) -> None:
    """The laptop's case: no TCP port is open."""
    assert valkey.url.startswith("unix://")
    assert Path(valkey.url.removeprefix("unix://").partition("?")[0]).is_socket()
