"""A turn with a language model: asked once, held at once, and never lost to it. The fake server counts the calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from nextlevel.inference.llm import CompatibleLLM
from nextlevel.model import TurnState
from nextlevel.settings import load
from nextlevel.store import turns
from nextlevel.store.forget import retract_turn
from nextlevel.workers import asking, jobs
from nextlevel.workers.outcomes import Outcome
from nextlevel.workers.steps import pipeline
from nextlevel.workers.steps.extract import parts
from tests.support.builders import event
from tests.support.host.fake_openai import MODEL, FakeOpenAI
from tests.support.ports import free_port

# The rules find the port and nothing of the owner; the model finds both.
SAID = "waldseilgarten-crm runs on port 8080. Nobody but Imke touches its nightly backups."
PORT = {
    "type": "project_state",
    "category": "tech_stack",
    "subject": "waldseilgarten-crm",
    "predicate": "runs_on_port",
    "object": "8080",
    "key": "port",
    "value": "8080",
    "confidence": 0.9,
    "span": "waldseilgarten-crm runs on port 8080",
    "entities": [],
}
OWNER = PORT | {
    "type": "entity_relationship",
    "predicate": "looks_after",
    "subject": "Imke",
    "object": "nightly backups",
    "key": None,
    "value": None,
    "span": "Nobody but Imke touches its nightly backups",
}
BOTH = {"text": json.dumps({"memories": [PORT, OWNER]})}
OWNED = ("Imke", "looks_after", "nightly backups")


@asynccontextmanager
async def model(bench, *steps: dict, timeout_s: float = 60) -> AsyncIterator[FakeOpenAI]:
    """The bench's worker with a model that answers so."""
    with FakeOpenAI(list(steps), default='{"memories": []}') as server:
        bench.ctx.llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=timeout_s)
        yield server
        await bench.ctx.llm.close()


async def extract(bench) -> Outcome:
    async with bench.ctx.db.pipeline() as conn:
        [turn] = await turns.ready(conn, TurnState.RECEIVED, limit=10, gap_wait_s=0)
    return await jobs.run(bench.ctx, "extract", turn.tenant_id, turn.id, turn.fence)


async def facts_of_extract(bench) -> dict:
    [row] = await bench.rows("SELECT facts FROM trace_events WHERE step = 'extract'")
    return json.loads(row["facts"])


async def test_what_only_the_model_finds_is_remembered_beside_what_the_rules_find_and_once(bench):
    async with model(bench, BOTH) as server:
        await bench.remember(event(SAID, seq=1))
    assert 1 == len(server.requests)
    found = await bench.facts()
    assert OWNED in found
    assert 1 == len([fact for fact in found if fact[1] == "runs_on_port"]), "found twice, it is one memory"
    facts = await facts_of_extract(bench)
    assert (MODEL, 1, 1, 1) == tuple(facts["model"][name] for name in ("model", "calls", "tokens_in", "tokens_out"))
    assert 12 == len(facts["model"]["prompt"])
    assert facts["model"]["ms"] >= 0
    [row] = await bench.rows("SELECT extractor, answer FROM extractions")
    assert row["extractor"].endswith(f"+{MODEL}@{facts['model']['prompt']}")
    assert "Imke" in row["answer"]


async def test_a_crash_after_the_answer_asks_no_model_again(bench, monkeypatch):
    """A model's answer is what costs: money, seconds, and on a second call perhaps another answer."""
    async with model(bench, BOTH) as server:
        await bench.tell(event(SAID, seq=1))
        with monkeypatch.context() as crash:
            crash.setattr(pipeline, "read", crashing)
            task = asyncio.create_task(extract(bench))
            with pytest.raises(asyncio.CancelledError):
                await task
        assert [("received", 0)] == [tuple(row) for row in await bench.rows("SELECT state, crashes FROM turns")]
        await bench.drain()
        assert 1 == len(server.requests)
    assert OWNED in await bench.facts()


LONG = f"{SAID} {'The rain was heavy again. ' * 350} Nobody but Ragnar touches the mail relay."
"""Two parts; each has a memory in it that only the model finds."""


async def test_a_long_turn_is_asked_of_in_parts_and_each_is_counted_and_held(bench):
    """Cut to one window, what stands at the end of a long message would be lost without a word."""
    answers = [BOTH, {"text": json.dumps({"memories": [owner("Ragnar", "the mail relay")]})}]
    async with model(bench, *answers) as server:
        await bench.remember(event(LONG, seq=1))
        first, second = (request["messages"][1]["content"] for request in server.requests)
    assert 'part="1 of 2"' in first
    assert "mail relay" not in first
    assert 'part="2 of 2"' in second
    assert {OWNED, ("Ragnar", "looks_after", "the mail relay")} <= await bench.facts()
    facts = await facts_of_extract(bench)
    assert (2, None, 2) == (facts["parts"], facts.get("parts_read"), facts["model"]["calls"])
    assert "cut" not in facts
    assert [(MODEL, 2, 4, 0.0)] == await spent(bench)
    [row] = await bench.rows("SELECT answer FROM extractions")
    assert 2 == len(json.loads(row["answer"]))


async def test_a_worker_that_is_killed_between_two_parts_asks_for_none_twice(bench):
    answers = [BOTH, {"hang": True}, {"text": json.dumps({"memories": [owner("Ragnar", "the mail relay")]})}]
    async with model(bench, *answers) as server:
        await bench.tell(event(LONG, seq=1))
        async with started(extract(bench)):
            while len(server.requests) < 2:
                await asyncio.sleep(0.01)
        assert [("received", 0)] == [tuple(row) for row in await bench.rows("SELECT state, crashes FROM turns")]
        await bench.drain()
        asked = [request["messages"][1]["content"] for request in server.requests]
    assert [1, 2, 2] == [1 if 'part="1 of 2"' in each else 2 for each in asked]
    assert {OWNED, ("Ragnar", "looks_after", "the mail relay")} <= await bench.facts()


async def test_a_day_that_ends_within_a_long_turn_keeps_what_was_said_so_far_and_the_trace_says_so(bench):
    bounded(bench, llm_tokens_per_day=2)
    async with model(bench, BOTH) as server:
        await bench.remember(event(LONG, seq=1))
        assert 1 == len(server.requests)
    assert OWNED in await bench.facts()
    facts = await facts_of_extract(bench)
    assert (2, 1) == (facts["parts"], facts["parts_read"])
    assert facts["budget"].startswith("spent")


async def test_a_day_that_is_nearly_spent_within_a_long_turn_asks_the_cheaper_model_of_the_rest(bench):
    bounded(bench, llm_money_per_day=0.0000099, llm_price="4/4")
    async with model(bench, BOTH) as server:
        bench.ctx.cheaper_llm = CompatibleLLM(server.base_url, "cheaper", None, timeout_s=10)
        await bench.remember(event(LONG, seq=1))
        assert [MODEL, "cheaper"] == [request["model"] for request in server.requests]
        await bench.ctx.cheaper_llm.close()
    [row] = await bench.rows("SELECT extractor FROM extractions")
    assert f"+{MODEL}+cheaper@" in row["extractor"]


async def test_one_part_of_no_use_costs_the_others_nothing(bench):
    async with model(bench, BOTH, {"text": None, "refusal": "I can't help with that."}):
        await bench.remember(event(LONG, seq=1))
    assert OWNED in await bench.facts()
    assert (await facts_of_extract(bench))["model"]["trouble"].startswith("part 2: refused")


async def test_what_no_part_of_a_huge_turn_shows_is_told_in_the_trace(bench):
    async with model(bench) as server:
        await bench.remember(event(f"{SAID} {'The rain was heavy again. ' * 4_000}", seq=1))
        assert parts.MOST_PARTS == len(server.requests)
    facts = await facts_of_extract(bench)
    assert (parts.MOST_PARTS, True) == (facts["parts"], facts["cut"]["user"] > 70_000)


async def test_the_model_is_told_what_its_session_came_to_without_what_was_forgotten(bench):
    """A talk of days is understood by what was settled at its beginning; what the user took back is not sent again."""
    async with model(bench, BOTH) as server:
        await bench.remember(event("We decided to keep the importer on SQLite.", seq=1))
        await bench.remember(event("We decided to keep the archive on tape.", seq=2))
        await bench.remember(*(event("The rain was heavy again.", seq=n) for n in range(3, 8)))
        await bench.rows("UPDATE turns SET hidden = true WHERE id = 'home:2'")
        before = len(server.requests)
        await bench.remember(event(SAID, seq=8))
        [asked] = server.requests[before:]
    shown = asked["messages"][1]["content"]
    summary = shown.split("<session-so-far>")[1].split("</session-so-far>")[0]
    assert "decided: We decided to keep the importer on SQLite" in summary
    assert "tape" not in shown


def owner(name: str, thing: str) -> dict:
    return OWNER | {"subject": name, "object": thing, "span": f"Nobody but {name} touches {thing}"}


async def test_turns_that_wait_behind_the_claimed_one_go_in_the_same_call(bench):
    """A session that was caught up on, or a fast talker: one call instead of one a turn."""
    told = [("Imke", "the nightly backups"), ("Ragnar", "the mail relay"), ("Solveig", "the tape robot")]
    # The model counts badly: what it gives the third turn stands in the second.
    said = [owner(*told[0]) | {"turn": 1}, owner(*told[1]) | {"turn": 3}, owner(*told[2]) | {"turn": 3}]
    async with model(bench, {"text": json.dumps({"memories": said})}) as server:
        await bench.remember(
            *(event(f"Nobody but {who} touches {what}.", seq=n) for n, (who, what) in enumerate(told, 1))
        )
        [asked] = server.requests
    assert [1, 1, 1] == [asked["messages"][1]["content"].count(f'<turn n="{n}"') for n in (1, 2, 3)]
    assert {(who, "looks_after", what) for who, what in told} == await bench.facts()
    facts = [
        json.loads(row["facts"])
        for row in await bench.rows("SELECT facts FROM trace_events WHERE step = 'extract' ORDER BY turn_id")
    ]
    assert [3, None, None] == [each.get("turns_in_call") for each in facts]
    assert [1, 0, 0] == [each["model"]["calls"] for each in facts]


async def test_where_an_answer_for_several_turns_is_of_no_use_the_first_is_asked_alone_and_the_next_is_not_lost(bench):
    told = [("Imke", "the nightly backups"), ("Ragnar", "the mail relay")]
    answers = [{"text": json.dumps({"memories": [owner(*each)]})} for each in told]
    async with model(bench, {"text": '{"memories": [', "finish": "length"}, *answers) as server:
        await bench.remember(
            *(event(f"Nobody but {who} touches {what}.", seq=n) for n, (who, what) in enumerate(told, 1))
        )
        assert 3 == len(server.requests)
    assert {(who, "looks_after", what) for who, what in told} == await bench.facts()


async def spent(bench) -> list[tuple]:
    rows = await bench.rows(
        "SELECT model, calls, tokens_in + tokens_out AS tokens, money FROM model_spending ORDER BY model"
    )
    return [tuple(row) for row in rows]


async def why_no_model(bench, turn: str) -> str | None:
    [row] = await bench.rows("SELECT facts FROM trace_events WHERE step = 'extract' AND turn_id = $1", turn)
    return json.loads(row["facts"]).get("budget")


def bounded(bench, **settings: object) -> None:
    bench.ctx.settings = bench.ctx.settings.model_copy(update=settings)


async def test_a_day_that_is_spent_goes_by_the_rules_and_the_next_day_asks_again(bench):
    """Nobody finds a bill in the morning; and nothing waits for tomorrow either."""
    bounded(bench, llm_tokens_per_day=2)
    async with model(bench, BOTH) as server:
        await bench.remember(event(SAID, seq=1))  # the fake counts two tokens an answer
        await bench.remember(event("Nobody but Ragnar touches the mail relay.", seq=2))
        assert 1 == len(server.requests)
        assert {"home:1": "stored", "home:2": "skipped"} == await bench.states()
        assert await why_no_model(bench, "home:1") is None
        assert (await why_no_model(bench, "home:2")).startswith("spent: 2 of 2 tokens")
        await bench.rows("UPDATE model_spending SET day = day - 1")
        await bench.remember(event("Nobody but Solveig touches the tape robot.", seq=3))
        assert 2 == len(server.requests)
    assert [(MODEL, 1, 2, 0.0), (MODEL, 1, 2, 0.0)] == await spent(bench)


async def test_a_day_that_is_nearly_spent_asks_the_cheaper_model_and_then_goes_by_the_rules(bench):
    bounded(bench, llm_money_per_day=0.0000099, llm_price="4/4", llm_cheaper_price="1/1")
    async with model(bench, BOTH, BOTH) as server:
        bench.ctx.cheaper_llm = CompatibleLLM(server.base_url, "cheaper", None, timeout_s=10)
        await bench.remember(event(SAID, seq=1))  # two tokens at four a million: past four fifths
        await bench.remember(event("Nobody but Ragnar touches the mail relay.", seq=2))  # and two at one: all of it
        await bench.remember(event("Nobody but Solveig touches the tape robot on port 8091.", seq=3))
        assert [MODEL, "cheaper"] == [request["model"] for request in server.requests]
        await bench.ctx.cheaper_llm.close()
    said = [await why_no_model(bench, f"home:{n}") for n in (1, 2, 3)]
    assert [None, "nearly spent", "spent"] == [each and each.split(":")[0] for each in said]
    assert [("cheaper", 1, 2, 0.000002), (MODEL, 1, 2, 0.000008)] == await spent(bench)


async def test_an_answer_of_no_use_is_paid_for_though_its_repair_must_wait(bench):
    """Else bad answers could pass a day's bound unseen."""
    async with model(bench, {"text": "no JSON"}, {"status": 503}):
        await bench.tell(event(SAID, seq=1))
        assert Outcome.PUT_BACK is await extract(bench)
    assert [(MODEL, 1, 2, 0.0)] == await spent(bench)


async def test_a_rate_limit_that_one_worker_met_is_heeded_by_the_others(bench):
    """Eight workers that each find out for themselves are eight more calls on a server that asked for none."""
    async with model(bench, {"status": 429, "headers": {"Retry-After": "1200"}}) as server:
        await bench.tell(event(SAID, seq=1))
        assert Outcome.PUT_BACK is await extract(bench)
        another = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        bench.ctx.llm, first = another, bench.ctx.llm
        await bench.rows("UPDATE turns SET not_before = NULL")
        assert Outcome.PUT_BACK is await extract(bench)
        assert 1 == len(server.requests)
        await another.close()
        bench.ctx.llm = first
    [row] = await bench.rows("SELECT extract(epoch FROM not_before - now()) > 1100 AS patient FROM turns")
    assert row["patient"]


def crashing(*_: object) -> None:
    raise asyncio.CancelledError


async def test_a_busy_model_puts_the_turn_back_for_as_long_as_it_asks_and_counts_no_attempt(bench):
    """A rate limit never ends a turn, and is heeded rather than hammered."""
    async with model(bench, {"status": 429, "headers": {"Retry-After": "1200"}}) as server:
        await bench.tell(event(SAID, seq=1))
        assert Outcome.PUT_BACK is await extract(bench)
        assert 1 == len(server.requests)
    [row] = await bench.rows(
        "SELECT state, attempts, reason, extract(epoch FROM not_before - now()) > 1100 AS patient FROM turns"
    )
    assert ("received", 0, True) == (row["state"], row["attempts"], row["patient"])
    assert "429" in row["reason"]
    assert [] == await bench.rows("SELECT FROM extractions")


async def test_a_server_that_is_gone_is_waited_for_and_the_turn_is_whole_when_it_is_back(bench):
    gone = CompatibleLLM(f"http://127.0.0.1:{free_port()}/v1", MODEL, None, timeout_s=10)
    bench.ctx.llm = gone
    await bench.tell(event(SAID, seq=1))
    assert Outcome.PUT_BACK is await extract(bench)
    await gone.close()
    async with model(bench, BOTH):
        await bench.rows("UPDATE turns SET not_before = NULL")
        await bench.drain()
    assert OWNED in await bench.facts()


async def test_a_turn_on_which_the_model_always_runs_out_of_time_goes_by_the_rules_in_the_end(bench):
    """One message that is too much for a small machine must not hold up its session for ever."""
    async with model(bench, *[{"hang": True}] * asking.PATIENT_CLAIMS, timeout_s=0.2):
        await bench.tell(event(SAID, seq=1))
        for _ in range(asking.PATIENT_CLAIMS - 1):
            assert Outcome.PUT_BACK is await extract(bench)
            await bench.rows("UPDATE turns SET not_before = NULL")
        await bench.drain()
    assert {"home:1": "stored"} == await bench.states()
    assert (await facts_of_extract(bench))["model"]["trouble"].startswith("timed out")


CUT_OFF = {"text": '{"memories": [', "finish": "length"}


@pytest.mark.parametrize(
    ("steps", "trouble", "requests"),
    [
        ([{"text": "no JSON"}, {"text": "none now either"}], "malformed", 2),
        ([{"raw": "<html>a proxy's page</html>"}] * 2, "malformed", 2),
        ([CUT_OFF, CUT_OFF], "truncated", 2),
        ([{"text": None, "refusal": "I can't help with that."}], "refused", 1),
        ([{"status": 401}], "refused", 1),
    ],
)
async def test_an_answer_that_stays_unusable_leaves_the_rules_alone_and_the_trace_says_of_which_kind(
    bench, steps, trouble, requests
):
    async with model(bench, *steps) as server:
        await bench.remember(event(SAID, seq=1))
        assert requests == len(server.requests)
    assert {"home:1": "stored"} == await bench.states()
    assert {"runs_on_port"} <= {predicate for _, predicate, _ in await bench.facts()}
    assert (await facts_of_extract(bench))["model"]["trouble"].startswith(trouble)


@pytest.mark.parametrize(
    "told",
    [
        event("thanks, have a nice weekend!", seq=1),
        event("waldseilgarten-crm runs on port 8080", seq=1),
        event("Grandma's plum cake needs 40 minutes", seq=1, kind="remember", turn=0),
    ],
)
async def test_a_model_is_not_paid_for_small_talk_nor_for_what_the_rules_read_in_full_nor_for_what_was_said_on_purpose(
    bench, told
):
    async with model(bench) as server:
        await bench.remember(told)
    assert [] == server.requests


async def test_no_transaction_is_open_while_the_model_thinks(bench):
    """A GPU that thinks for a minute must not hold a lock, nor one of the pool's connections."""
    async with model(bench, {"hang": True}) as server:
        await bench.tell(event(SAID, seq=1))
        async with started(extract(bench)):
            await asyncio.to_thread(server.asked.wait, 20)
            open_ = await bench.rows(
                "SELECT FROM pg_stat_activity WHERE usename = 'nextlevel_service' AND xact_start IS NOT NULL "
                "AND datname = current_database()"
            )
    assert [] == open_


async def test_a_worker_that_lost_its_lease_meanwhile_holds_nothing(bench, monkeypatch):
    async with model(bench, BOTH):
        await bench.tell(event(SAID, seq=1))
        real = asking.llm.ask

        async def overtaken(*args):
            heard = await real(*args)
            await bench.rows("UPDATE turns SET fence = fence + 1")
            return heard

        monkeypatch.setattr(asking.llm, "ask", overtaken)
        assert Outcome.LOST is await extract(bench)
    assert [] == await bench.rows("SELECT FROM extractions")


async def test_what_a_model_said_of_a_turn_goes_when_the_turn_is_undone(bench):
    """Erasure follows into everything that was made of the words."""
    async with model(bench, BOTH):
        await bench.remember(event(SAID, seq=1))
    scope = await bench.scope()
    async with bench.ctx.db.memory(scope) as conn:
        await retract_turn(conn, scope, "home:1", reason="undone")
    assert [None] == [row["answer"] for row in await bench.rows("SELECT answer FROM extractions")]


def test_llm_off_forces_the_rules(monkeypatch, tmp_path):
    """`NEXTLEVEL_LLM=off` is the switch that is remembered when a model misbehaves."""
    monkeypatch.setenv("NEXTLEVEL_LLM", "off")
    assert "off" == load(data_dir=tmp_path).llm


@asynccontextmanager
async def started(work) -> AsyncIterator[asyncio.Task]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
