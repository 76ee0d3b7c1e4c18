"""What each endpoint promises its callers."""

from dataclasses import asdict
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from nextlevel.event import decode
from nextlevel.model import EntityType
from nextlevel.queue import streams
from nextlevel.store import scopes, turns
from tests.api.conftest import scope
from tests.support.builders import event
from tests.support.memory import JUNE


async def published(valkey) -> list:
    """The events that ingest would read."""
    async with Redis.from_url(valkey.url) as redis:
        await streams.ensure_group(redis)
        return [decode(entry.fields) for entry in await streams.read(redis, "test", count=100, block_ms=1)]


async def take_in(memory, events) -> None:
    """What ingest does with them."""
    async with memory.db.pipeline() as conn:
        for each in events:
            await turns.receive(conn, each, memory.scope)
            await turns.receipt(conn, each.install, advance=True)


async def test_a_recall_tells_the_line_its_block_and_why(as_nele, nele):
    """A host shows the line, a person asks why, a tool needs the id."""
    block = await nele.tell("crm", "runs_on_port", "8080")
    body = {"query": "which port does the crm run on?", "scope": scope(), "explain": True, "deadline_ms": 5_000}
    answer = (await as_nele.post("/v1/recall", json=body)).json()
    [item] = answer["items"]
    assert item["block"]["id"] == str(block.id)
    assert item["text"] in answer["context"]
    assert item["why"]
    assert not answer["abstained"]
    assert {
        "context",
        "items",
        "dropped",
        "rung",
        "generation",
        "ms",
        "abstained",
        "vectors",
        "brief",
        "sessions",
    } == set(answer)


async def test_what_held_then_can_be_asked_over_http(as_nele, nele):
    old = await nele.tell("crm", "runs_on_port", "8080")
    await nele.tell("crm", "runs_on_port", "8091", since=JUNE.replace(day=4), replaces=old)
    body = {"query": "crm port", "scope": scope(), "mode": "search", "as_of": "2026-06-03T12:00:00+02:00"}
    answer = (await as_nele.post("/v1/recall", json=body)).json()
    assert [item["block"]["object"] for item in answer["items"]] == ["8080"]


async def test_what_was_known_then_can_be_asked_over_http(as_nele, nele):
    """Before anything was learnt nothing was known, though it was so; a list shows each block as it was then."""
    old = await nele.tell("crm", "runs_on_port", "8080")
    new = await nele.tell("crm", "runs_on_port", "8091", since=JUNE.replace(day=4), replaces=old)
    body = {"query": "crm port", "scope": scope(), "mode": "search", "as_of": "2026-06-03T12:00:00+02:00"}
    for known_at, recalled, listed in (
        ("2026-06-03T12:00:00+02:00", [], []),
        ("2999-01-01T00:00:00Z", ["8080"], [(str(new.id), "active"), (str(old.id), "superseded")]),
    ):
        answer = (await as_nele.post("/v1/recall", json=body | {"known_at": known_at})).json()
        assert recalled == [item["block"]["object"] for item in answer["items"]]
        page = await as_nele.get("/v1/blocks", params={"install": "nele", "known_at": known_at})
        assert listed == [(each["id"], each["status"]) for each in page.json()["blocks"]]


async def test_forget_by_id_is_forgotten_on_every_rung(as_nele, nele):
    """After the answer, no rung may serve it: not the cache, not the hot scope, not Postgres, not a list."""
    block = await nele.tell("crm", "has_secret_port", "4711")
    body = {
        "query": "what is the secret port of the crm?",
        "scope": scope(),
        "mode": "prefetch",
        "session": "s",
        "warm": True,
    }
    rungs = set()
    while "cache" not in rungs:
        answer = (await as_nele.post("/v1/recall", json=body)).json()
        assert "4711" in answer["context"]
        rungs.add(answer["rung"])
    gone = await as_nele.post("/v1/forget", json={"block": str(block.id), "scope": scope()})
    assert gone.json() == {"forgotten": [str(block.id)], "matches": [], "documents": []}
    for _ in range(3):
        answer = (await as_nele.post("/v1/recall", json=body)).json()
        assert answer["context"] == ""
    as_of = body | {"as_of": "2026-06-03T12:00:00+02:00"}
    assert (await as_nele.post("/v1/recall", json=as_of)).json()["items"] == []
    assert (await as_nele.get("/v1/blocks?install=nele")).json()["blocks"] == []
    again = await as_nele.post("/v1/forget", json={"block": str(block.id), "scope": scope()})
    assert again.status_code == 404


async def test_forget_by_query_deletes_nothing(as_nele, nele):
    """A person sees what it would be, and names it."""
    block = await nele.tell("crm", "runs_on_port", "8080")
    answer = (await as_nele.post("/v1/forget", json={"query": "crm port", "scope": scope()})).json()
    assert [match["id"] for match in answer["matches"]] == [str(block.id)]
    assert answer["forgotten"] == []
    assert len((await as_nele.get("/v1/blocks?install=nele")).json()["blocks"]) == 1


async def test_a_turn_goes_onto_the_stream_without_its_secrets(as_nele, nele, valkey):
    """Other hosts may not have our rules: what they send is made harmless before anything keeps it."""
    told = event("my token is ghp_" + "a1B2" * 9, install="nele", assistant_text="<memory-context>x</memory-context>ok")
    answer = await as_nele.post("/v1/turns", json={"event": asdict(told)})
    assert (answer.status_code, answer.json()) == (202, {"id": told.id, "state": "published"})
    [kept] = await published(valkey)
    assert (kept.id, kept.fp) == (told.id, told.fp)
    assert "ghp_" not in kept.user_text
    assert kept.assistant_text == "ok"


async def test_what_is_remembered_is_numbered_without_gaps(as_nele, nele, valkey):
    """A missing number is waited for: it would hold up every later memory of this sender."""
    body = {"text": "We deploy on Thursdays.", "scope": scope(), "wait_s": 0}
    answers = [(await as_nele.post("/v1/remember", json=body)).json() for _ in range(3)]
    assert [each["turn"] for each in answers] == ["nele.api:1", "nele.api:2", "nele.api:3"]
    assert {each["state"] for each in answers} == {"published"}
    events = await published(valkey)
    assert [each.id for each in events] == ["nele.api:1", "nele.api:2", "nele.api:3"]
    assert {(each.kind, each.user_text) for each in events} == {("remember", "We deploy on Thursdays.")}
    assert len({each.fp for each in events}) == 3


async def test_numbering_goes_on_where_postgres_stands_after_redis_was_wiped(as_nele, nele, valkey):
    """The counter is a copy; the truth is what was taken in."""
    body = {"text": "We deploy on Thursdays.", "scope": scope(), "wait_s": 0}
    for _ in range(2):
        await as_nele.post("/v1/remember", json=body)
    await take_in_own(nele, await published(valkey))
    await valkey.fresh()
    assert (await as_nele.post("/v1/remember", json=body)).json()["turn"] == "nele.api:3"


async def take_in_own(memory, events) -> None:
    async with memory.db.pipeline() as conn:
        await scopes.resolve(conn, events[0].install, profile="default", principal="local", accept_unenrolled=False)
    await take_in(memory, events)


async def test_remember_says_what_became_of_it(as_nele, nele, valkey):
    """ "Saved" must not be said when nothing was."""
    body = {"text": "We deploy on Thursdays.", "scope": scope(), "wait_s": 0}
    turn = (await as_nele.post("/v1/remember", json=body)).json()["turn"]
    assert (await as_nele.get(f"/v1/trace/{turn}")).status_code == 404
    await take_in_own(nele, await published(valkey))
    traced = (await as_nele.get(f"/v1/trace/{turn}")).json()
    assert traced["turn"]["state"] == "received"
    assert traced["blocks"] == []


async def test_blocks_come_page_by_page(as_nele, nele):
    """Memory that can be searched but not listed can't be checked, nor taken along."""
    told = [str((await nele.tell("crm", "has_note", str(n))).id) for n in range(5)]
    seen, after = [], ""
    while True:
        page = (await as_nele.get(f"/v1/blocks?install=nele&limit=2{after}")).json()
        seen += [block["id"] for block in page["blocks"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == told[::-1]


async def test_a_blocks_history_and_the_graph_are_readable(as_nele, nele):
    first = await nele.tell("crm", "runs_on", "birke-02", names=[("birke-02", EntityType.HOST)])
    await nele.tell(
        "crm", "runs_on", "esche-01", names=[("esche-01", EntityType.HOST)], since=JUNE.replace(day=9), replaces=first
    )
    history = (await as_nele.get(f"/v1/blocks/{first.id}/history?install=nele")).json()["history"]
    assert [each["block"]["object"] for each in history] == ["birke-02", "esche-01"]
    assert "until 9 Jun" in history[0]["block"]["text"]
    edges = (await as_nele.get("/v1/graph?install=nele&entity=CRM")).json()["edges"]
    assert [(edge["subject"], edge["object"]) for edge in edges] == [("crm", "esche-01")]
    assert (await as_nele.get("/v1/graph?install=nele&entity=nothing")).status_code == 404


async def test_the_operator_sees_what_waits(as_operator, nele, as_nele, valkey):
    """The first question when memory seems stuck."""
    body = {"text": "We deploy on Thursdays.", "scope": scope(), "wait_s": 0}
    await as_nele.post("/v1/remember", json=body)
    status = (await as_operator.get("/v1/status")).json()
    assert status["queue"]["streams"]["nl:turns"]["entries"] == 1
    assert {row["install"] for row in status["store"]["installations"]} == {"nele"}


BAD = [
    ("POST", "/v1/recall", {"query": "x"}),
    ("POST", "/v1/recall", {"query": "x", "scope": {"install": "no spaces allowed"}}),
    ("POST", "/v1/recall", {"query": "x", "scope": scope(), "mode": "guess"}),
    ("POST", "/v1/recall", {"query": "x", "scope": scope(), "as_of": "2026-06-03T12:00:00"}),
    ("POST", "/v1/recall", {"query": "x", "scope": scope(), "budget_tokens": 10_000}),
    ("POST", "/v1/forget", {"scope": scope()}),
    ("POST", "/v1/forget", {"scope": scope(), "query": "x", "block": str(uuid4())}),
    ("POST", "/v1/feedback", {"scope": scope(), "block": str(uuid4()), "verdict": "great"}),
    ("POST", "/v1/turns", {"event": {"v": 99}}),
    ("POST", "/v1/turns", {"event": []}),
    ("POST", "/v1/remember", {"scope": scope(), "text": ""}),
    ("GET", "/v1/blocks?install=nele&after=garbage", None),
    ("GET", "/v1/blocks?install=nele&limit=0", None),
    ("GET", "/v1/blocks?install=nele&status=unheard_of", None),
    ("GET", "/v1/blocks/not-a-uuid/history?install=nele", None),
]


@pytest.mark.parametrize(("method", "path", "body"), BAD)
async def test_a_bad_request_is_told_what_is_wrong(as_nele, method, path, body):
    """A client's mistake is the client's to mend: it needs the place and the rule, in the same shape every time."""
    answer = await as_nele.request(method, path, json=body)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"]
    assert error["message"]


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"null", b"[]", b'"' + b"a" * 100 + b'"'])
async def test_what_is_no_json_object_is_refused(as_nele, content):
    answer = await as_nele.post("/v1/recall", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


async def test_a_body_beyond_the_limit_is_cut_off_whatever_it_announces(as_nele):
    """Chunked, without a length, endless: it must not fill the memory."""

    async def endless():
        while True:
            yield b" " * 1_000_000

    answer = await as_nele.post("/v1/recall", content=endless())
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    announced = await as_nele.post("/v1/recall", content=b"x", headers={"Content-Length": "99999999999"})
    assert announced.status_code == 413


async def test_an_unknown_path_answers_in_the_same_shape(as_nele):
    answer = await as_nele.get("/v1/nothing")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert (await as_nele.get("/v1/recall")).json()["error"]["code"] == "method_not_allowed"
