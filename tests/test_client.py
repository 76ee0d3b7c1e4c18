"""The client against a service on a socket that answers what a test tells it to."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from nextlevel import errors
from nextlevel.client import Client, ScopeName
from tests.support.ports import free_port
from tests.support.service import Service, running


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as server:
        yield server


@pytest.fixture
def client(service: Service) -> Client:
    return Client(service.url, "the-token")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, errors.ScopeDenied),
        (403, errors.ScopeDenied),
        (404, errors.NotFound),
        (413, errors.Permanent),
        (422, errors.MalformedEvent),
        (500, errors.ServiceUnreachable),
        (503, errors.ServiceUnreachable),
    ],
)
def test_each_answer_is_the_error_that_the_service_raised(
    service: Service, client: Client, status: int, error: type[errors.NextLevelError]
) -> None:
    """A host decides by class whether to try again; the service's own words reach the person."""
    service.status = status
    service.body = b'{"error": {"code": "bad_thing", "message": "the words of the service"}}'
    with pytest.raises(error, match="the words of the service"):
        client.status()


@pytest.mark.parametrize(
    ("code", "error"),
    [("unknown_installation", errors.UnknownInstallation), ("invalid_request", errors.Permanent)],
)
def test_a_code_tells_more_than_a_status(
    service: Service, client: Client, code: str, error: type[errors.NextLevelError]
) -> None:
    """422 is a broken event or a wrong parameter; 403 a foreign scope or an installation that nobody enrolled."""
    service.status = 403 if code == "unknown_installation" else 422
    service.body = json.dumps({"error": {"code": code, "message": "why"}}).encode()
    with pytest.raises(errors.NextLevelError) as raised:
        client.status()
    assert type(raised.value) is error


def test_a_stranger_on_the_port_is_told_from_the_service(service: Service, client: Client) -> None:
    """Port numbers get mixed up; another program's page or error must not end in a decoding error."""
    for service.status, service.body in ((200, b"<html>"), (404, b'{"detail": "Not Found"}')):
        with pytest.raises(errors.ServiceUnreachable, match="is it the nextlevel service"):
            client.status()


def test_nobody_on_the_port_is_unreachable() -> None:
    """Transient: a host keeps its turn and tries again."""
    client = Client(f"http://127.0.0.1:{free_port()}")
    assert not client.alive()
    with pytest.raises(errors.ServiceUnreachable, match="does not answer"):
        client.status()


def test_an_address_that_is_none_is_refused_at_once() -> None:
    """Before the first call, with the setting's name."""
    with pytest.raises(errors.Misconfigured, match="NEXTLEVEL_SERVICE_URL"):
        Client("localhost:7717")


def test_a_recall_asks_with_token_and_scope_and_gives_what_was_found(service: Service, client: Client) -> None:
    """Options that are not given are not sent, so the service's defaults hold."""
    service.body = b"""{"context": "- crm: port 8091", "items": [{"text": "crm runs on port 8091"}], "rung": "cache",
                        "ms": 3.5, "abstained": false, "something_newer": 1}"""
    found = client.recall("port", ScopeName(profile="work"), as_of="2026-06-03T00:00:00Z")
    assert (found.context, found.rung, found.abstained) == ("- crm: port 8091", "cache", False)
    scope = {"install": "local", "profile": "work", "principal": "local"}
    asked = {"query": "port", "scope": scope, "mode": "search", "explain": False, "as_of": "2026-06-03T00:00:00Z"}
    assert service.asked == [("POST", "/v1/recall", "Bearer the-token", asked)]


def test_a_turns_id_is_quoted_in_the_path(service: Service, client: Client) -> None:
    """Ids hold `:` and `~`; one with a slash must not become another path."""
    client.trace("k3v9~ab/..:7")
    assert service.asked[0][1] == "/v1/trace/k3v9~ab%2F..%3A7"
