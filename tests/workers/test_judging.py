"""Two facts that the rules can't tell apart, put to a model: once, in no transaction, and never against a guard."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from nextlevel.inference import open_embedder, open_judge
from nextlevel.inference.llm import CompatibleLLM
from nextlevel.settings import Settings, load
from nextlevel.store.forget import forget_blocks
from nextlevel.workers.steps import apply
from tests.support.builders import NOON, event
from tests.support.host.fake_openai import MODEL, FakeOpenAI
from tests.support.ports import free_port

COFFEE = event("I prefer coffee.", seq=1)
TEA = event("I prefer tea from now on.", seq=2)
UPDATES = {"text": '{"verdict": "updates"}'}
BOTH = {"coffee", "tea from now on"}


@pytest.fixture(scope="module")
async def embedder():
    opened = open_embedder(Settings())
    yield opened
    await opened.close()


@asynccontextmanager
async def judge(bench, embedder, *steps: dict, timeout_s: float = 10) -> AsyncIterator[FakeOpenAI]:
    """The bench's worker with a model that judges so, and says "distinct" for ever after."""
    bench.ctx.embedder = embedder
    with FakeOpenAI(list(steps), default='{"verdict": "distinct"}') as server:
        bench.ctx.judge = CompatibleLLM(server.base_url, MODEL, None, timeout_s=timeout_s)
        yield server
        await bench.ctx.judge.close()


async def preferred(bench) -> set[str]:
    return {object_ for _, predicate, object_ in await bench.facts() if predicate == "prefers"}


async def told_of_store(bench, turn: str) -> dict:
    [row] = await bench.rows("SELECT facts FROM trace_events WHERE step = 'store' AND turn_id = $1", turn)
    return json.loads(row["facts"])


async def test_where_the_rules_leave_it_open_the_model_decides_and_its_price_is_counted(bench, embedder):
    async with judge(bench, embedder, UPDATES) as server:
        await bench.remember(COFFEE, TEA)
        [asked] = server.requests
    assert {"earlier": "user prefers coffee", "later": "user prefers tea from now on"} == json.loads(
        asked["messages"][1]["content"]
    )
    assert asked["response_format"]["json_schema"]["strict"]
    assert {"tea from now on"} == await preferred(bench)
    [judged] = (await told_of_store(bench, "home:2"))["judged"]
    assert ("updates", MODEL) == (judged["verdict"], judged["model"])
    [spent] = await bench.rows("SELECT model, calls, tokens_in + tokens_out AS tokens FROM model_spending")
    assert (MODEL, 1, 2) == tuple(spent)


async def test_the_later_told_is_asked_about_as_the_later_whatever_arrives_first(bench, embedder):
    """An import must not have the old habit replace the new one."""
    first = replace(COFFEE, session="s2", at=NOON.isoformat())
    async with judge(bench, embedder, UPDATES) as server:
        await bench.remember(TEA)
        await bench.remember(first)
        [asked] = server.requests
    assert "user prefers coffee" == json.loads(asked["messages"][1]["content"])["earlier"]
    assert {"tea from now on"} == await preferred(bench)


async def test_a_crash_after_the_answer_asks_no_model_again(bench, embedder, monkeypatch):
    """What a model said once holds: a second answer might be another one."""

    def crashing(*_: object, **__: object) -> None:
        raise asyncio.CancelledError

    async with judge(bench, embedder, UPDATES) as server:
        await bench.remember(COFFEE)
        with monkeypatch.context() as crash:
            crash.setattr(apply, "apply", crashing)
            task = asyncio.create_task(bench.remember(TEA))
            with pytest.raises(asyncio.CancelledError):
                await task
        assert BOTH - {"tea from now on"} == await preferred(bench)
        await bench.drain()
        assert 1 == len(server.requests)
    assert {"tea from now on"} == await preferred(bench)
    [replayed] = (await told_of_store(bench, "home:2"))["replayed"]
    assert "updates" == replayed["verdict"]


@pytest.mark.parametrize(
    ("answer", "told", "kept"),
    [
        ({"text": "It is the same."}, "malformed", True),
        ({"text": '{"verdict": "maybe"}'}, "malformed", True),
        ({"text": "{", "finish": "length"}, "truncated", True),
        ({"refusal": "I would rather not."}, "refused", True),
        ({"raw": "<html>"}, "malformed", True),
        ({"status": 500}, "500", False),
        ({"status": 429, "headers": {"Retry-After": "1200"}}, "429", False),
        ({"hang": True}, "no answer within", False),
    ],
)
async def test_what_a_model_can_not_decide_the_rules_do_and_the_trace_says_why(bench, embedder, answer, told, kept):
    """No turn waits for a verdict. An answer of no use is held: the same question would bring it again."""
    async with judge(bench, embedder, answer, timeout_s=0.5 if "hang" in answer else 10) as server:
        await bench.remember(COFFEE, TEA)
        assert 1 == len(server.requests)
    assert BOTH == await preferred(bench)
    facts = await told_of_store(bench, "home:2")
    assert told in (facts["judged"][0]["trouble"] if kept else facts["because"])
    assert kept == (1 == len(await bench.rows("SELECT FROM judgements WHERE verdict IS NULL")))


async def test_a_server_that_is_gone_leaves_the_rules_alone(bench, embedder):
    bench.ctx.embedder = embedder
    bench.ctx.judge = CompatibleLLM(f"http://127.0.0.1:{free_port()}/v1", MODEL, None, timeout_s=10)
    await bench.remember(COFFEE, TEA)
    await bench.ctx.judge.close()
    assert BOTH == await preferred(bench)
    assert "can't be reached" in (await told_of_store(bench, "home:2"))["because"]


async def test_a_day_that_is_spent_asks_nothing(bench, embedder):
    bench.ctx.settings = bench.ctx.settings.model_copy(update={"llm_tokens_per_day": 2})
    async with judge(bench, embedder, UPDATES) as server:
        await bench.remember(COFFEE, TEA)
        await bench.remember(event("I prefer cocoa.", seq=3))
        assert 1 == len(server.requests)
    assert (await told_of_store(bench, "home:3"))["because"].startswith("spent: 2 of 2 tokens")


@pytest.mark.parametrize(
    ("earlier", "later", "left"),
    [
        ("waldseilgarten-crm runs on port 8080.", "waldseilgarten-crm runs on port 8081.", {"8081"}),
        ("I prefer coffee.", "I prefer no coffee.", None),
        ("Imke maintains the mail relay.", "Ragnar maintains the tape robot.", None),
    ],
    ids=["number", "negation", "person"],
)
async def test_what_a_guard_tells_apart_is_put_to_no_model(bench, embedder, earlier, later, left):
    """A model that is wrong once in twenty would join two ports."""
    async with judge(bench, embedder) as server:
        await bench.remember(event(earlier, seq=1), event(later, seq=2))
        assert [] == server.requests
    assert left is None or left == {object_ for _, _, object_ in await bench.facts()}


async def test_no_transaction_is_open_while_the_model_thinks(bench, embedder):
    """Whoever else stores this person's turns must not wait for a GPU."""
    async with judge(bench, embedder, {"hang": True}) as server:
        await bench.remember(COFFEE)
        await bench.tell(TEA)
        task = asyncio.create_task(bench.drain())
        try:
            await asyncio.to_thread(server.asked.wait, 20)
            open_ = await bench.rows(
                "SELECT FROM pg_stat_activity WHERE usename = 'nextlevel_service' AND xact_start IS NOT NULL "
                "AND datname = current_database()"
            )
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert [] == open_


async def test_what_was_said_of_a_fact_goes_when_it_is_forgotten(bench, embedder):
    async with judge(bench, embedder, UPDATES):
        await bench.remember(COFFEE, TEA)
    assert 1 == len(await bench.rows("SELECT FROM judgements"))
    scope = await bench.scope()
    ids = [row["block_id"] for row in await bench.rows("SELECT block_id FROM blocks WHERE object = 'coffee'")]
    async with bench.ctx.db.memory(scope) as conn:
        await forget_blocks(conn, scope, ids)
    assert [] == await bench.rows("SELECT FROM judgements")


def test_nobody_is_asked_unless_a_model_is_named(tmp_path):
    server = {"llm_base_url": "http://localhost:1/v1", "llm_model": "m"}
    assert open_judge(load(data_dir=tmp_path, **server)) is None
    assert open_judge(load(data_dir=tmp_path, llm="off", llm_judge_model="judge", **server)) is None
