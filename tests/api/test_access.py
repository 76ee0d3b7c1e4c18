"""A token proves whose memory; a body proves nothing. Every endpoint that shows or changes memory is asked here."""

from dataclasses import asdict
from uuid import UUID

import pytest

from tests.api.conftest import client, scope
from tests.support.builders import event

NOBODYS = UUID(int=7)

ENDPOINTS = [
    ("POST", "/v1/recall", {"query": "which port?", "scope": scope()}),
    ("POST", "/v1/remember", {"text": "We deploy on Thursdays.", "scope": scope(), "wait_s": 0}),
    ("POST", "/v1/forget", {"query": "port", "scope": scope()}),
    ("POST", "/v1/forget", {"block": str(NOBODYS), "scope": scope()}),
    ("GET", "/v1/blocks?install=nele", None),
    ("GET", f"/v1/blocks/{NOBODYS}/history?install=nele", None),
    ("GET", "/v1/graph?install=nele", None),
    ("GET", "/v1/entities?install=nele&name=crm", None),
    ("GET", "/v1/entities/discussed?install=nele&name=crm", None),
    ("POST", "/v1/entities/merge", {"keep": "crm", "merge": "shop", "scope": scope()}),
    ("POST", "/v1/entities/split", {"entity": "crm", "name": "shop", "scope": scope()}),
    ("GET", "/v1/trace/nele:1", None),
    ("GET", "/v1/trace/nele.ab12cd:1", None),
    ("GET", "/v1/status", None),
]
ids = [f"{method} {path.split('?')[0]}" for method, path, _ in ENDPOINTS]


@pytest.mark.parametrize(("method", "path", "body"), ENDPOINTS, ids=ids)
async def test_without_a_token_nothing_is_shown(as_nobody, nele, method, path, body):
    """mem0's service had no login: whoever named a user was that user."""
    answer = await as_nobody.request(method, path, json=body)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"


@pytest.mark.parametrize(("method", "path", "body"), ENDPOINTS, ids=ids)
async def test_anothers_token_opens_nothing(as_kim, nele, method, path, body):
    """The body names Nele, the token proves Kim."""
    answer = await as_kim.request(method, path, json=body)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "scope_denied"


async def test_a_made_up_token_opens_nothing(app, nele):
    """Neither does one for an installation that nobody enrolled."""
    async with client(app, "nobody-knows-me") as stranger:
        body = {"query": "which port?", "scope": scope("nobody-knows-me")}
        answer = await stranger.post("/v1/recall", json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "unknown_installation")
    async with client(app, None) as stranger:
        headers = {"Authorization": "Bearer \N{LATIN SMALL LETTER E WITH ACUTE}".encode()}
        answer = await stranger.post("/v1/recall", json={"query": "x", "scope": scope()}, headers=headers)
        assert answer.status_code == 403


async def test_the_operator_may_ask_for_anybody(as_operator, nele):
    await nele.tell("crm", "runs_on_port", "8080")
    answer = await as_operator.post("/v1/recall", json={"query": "crm port", "scope": scope(), "mode": "search"})
    assert "8080" in answer.json()["context"]


async def test_a_cloned_home_speaks_with_its_bases_token(as_nele, nele):
    """Its delivery id has a suffix; its owner is the one who enrolled the base."""
    await nele.tell("crm", "runs_on_port", "8080")
    body = {"query": "crm port", "scope": scope("nele.ab12cd"), "mode": "search"}
    assert "8080" in (await as_nele.post("/v1/recall", json=body)).json()["context"]


async def test_a_turn_is_taken_only_from_its_own_installation(as_kim, nele):
    """A turn in somebody's name would become their memory."""
    answer = await as_kim.post("/v1/turns", json={"event": asdict(event(install="nele"))})
    assert answer.status_code == 403


async def test_a_foreign_block_is_not_found_and_stays(as_kim, as_nele, nele, kim):
    """Whoever knows an id from a log learns nothing, and deletes nothing."""
    block = await nele.tell("crm", "runs_on_port", "8080")
    answer = await as_kim.post("/v1/forget", json={"block": str(block.id), "scope": scope("kim")})
    assert answer.status_code == 404
    assert (await as_kim.get(f"/v1/blocks/{block.id}/history?install=kim")).status_code == 404
    page = (await as_nele.get("/v1/blocks?install=nele")).json()
    assert [each["id"] for each in page["blocks"]] == [str(block.id)]
