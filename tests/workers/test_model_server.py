"""A real model server beside the pipeline, `llama.cpp` over a model that hardly knows what it says. `-s` shows what.

No answer is expected to be good. What is: that each has its class, that nothing that stands not in the turn is kept,
and that what the rules found is there in the end, whatever the model did.
"""

from __future__ import annotations

import json

import pytest

from nextlevel.errors import ModelBusy, UnusableAnswer
from nextlevel.inference.llm import CompatibleLLM
from nextlevel.workers import jobs
from nextlevel.workers.steps.extract import llm, model_answer
from tests.support import llamacpp
from tests.support.builders import event
from tests.support.host.fake_openai import MODEL

pytestmark = [
    pytest.mark.journey,
    pytest.mark.timeout(3_600),
    pytest.mark.skipif(llamacpp.PYTHON is None, reason="NEXTLEVEL_TEST_MODEL_PYTHON names no Python with a server"),
]

WINDOW = 8_192
TOKENS_OUT = 120
"""Of an answer: a machine without a GPU writes few a second, and this model goes on until it is stopped."""
PATIENCE_S = 600
TURNS = [
    "waldseilgarten-crm runs on port 8080. Nobody but Imke touches its nightly backups.",
    "pegelwacht runs on port 9000. Außer Ragnar fasst niemand das alte Mailrelay an.",
    f"I prefer compact tables. {'The rain was heavy again. ' * 300} Nobody but Odile mends roofs.",
]
BY_RULES = {("runs_on_port", "8080"), ("runs_on_port", "9000"), ("prefers", "compact tables")}
KINDS = {"malformed", "truncated", "refused"}


def opened(base_url: str, *, timeout_s: float) -> CompatibleLLM:
    return CompatibleLLM(base_url, MODEL, None, timeout_s=timeout_s)


async def told(bench, turn: str) -> dict:
    """What the trace says of a turn's extraction; printed, too."""
    [row] = await bench.rows("SELECT facts FROM trace_events WHERE step = 'extract' AND turn_id = $1", turn)
    facts = json.loads(row["facts"])
    model = facts["model"]
    counts = " ".join(f"{name} {model.get(name)}" for name in ("calls", "tokens_in", "tokens_out", "ms"))
    print(f"{turn}: parts {facts.get('parts', 1)} · {counts} · {model.get('trouble') or 'valid'}")
    for each in facts["kept"]:
        print(f"  kept     {each['rule']:<22} {each['text'][:90]}")
    for each in facts["dropped"]:
        if each["why"].startswith(("ungrounded", "malformed")):
            print(f"  dropped  {each['why'][:60]:<60} {each['text'][:60]}")
    return facts


async def test_what_a_poor_model_says_leaves_the_rules_findings_whole_and_nothing_that_nobody_said(bench, monkeypatch):
    monkeypatch.setattr(llm, "MOST_TOKENS_OUT", TOKENS_OUT)
    with llamacpp.serving(WINDOW) as base_url:
        bench.ctx.llm = opened(base_url, timeout_s=PATIENCE_S)
        for n, text in enumerate(TURNS, 1):
            await bench.remember(event(text, seq=n))
            await told(bench, f"home:{n}")
        await bench.ctx.llm.close()
    rows = await bench.rows("SELECT answer FROM extractions WHERE answer IS NOT NULL")
    answers = [each for row in rows for each in json.loads(row["answer"])]
    valid = sum(each["trouble"] is None for each in answers)
    print(f"{valid} of {len(answers)} answers valid, in {sum(each['calls'] for each in answers)} calls")
    assert {"stored"} == set((await bench.states()).values())
    assert BY_RULES <= {(predicate, object_) for _, predicate, object_ in await bench.facts()}
    assert len(TURNS) + 1 == len(answers), "the last turn has two parts"
    assert all(each["tokens_in"] > 0 and each["model"] == MODEL for each in answers)
    assert all(each["trouble"] is None or each["trouble"].split(":")[0] in KINDS for each in answers)


async def test_a_window_that_is_too_small_is_a_refusal_and_the_rules_go_on(bench):
    """llama.cpp says so; that is worth more than an answer to a prompt without its instructions."""
    with llamacpp.serving(512) as base_url:
        bench.ctx.llm = opened(base_url, timeout_s=PATIENCE_S)
        await bench.remember(event(TURNS[0], seq=1))
        await bench.ctx.llm.close()
    facts = await told(bench, "home:1")
    assert facts["model"]["trouble"].startswith("refused")
    assert "runs_on_port" in {predicate for _, predicate, _ in await bench.facts()}


async def test_an_answer_is_held_to_its_schema_and_one_that_is_too_slow_or_too_long_has_its_class():
    ask = [{"role": "user", "content": "List all towns on the Danube, with what is worth remembering of each."}]
    small = {"type": "object", "properties": {"town": {"enum": ["Ulm", "Linz"]}}, "required": ["town"]}
    with llamacpp.serving(WINDOW) as base_url:
        hasty, patient = opened(base_url, timeout_s=0.2), opened(base_url, timeout_s=PATIENCE_S)
        with pytest.raises(ModelBusy) as slow:
            await hasty.complete(ask, model_answer.schema(), max_tokens=400)
        with pytest.raises(UnusableAnswer) as long:
            await patient.complete(ask, model_answer.schema(), max_tokens=8)
        answer = await patient.complete(ask, small | {"additionalProperties": False}, max_tokens=50)
        await hasty.close()
        await patient.close()
    print(f"slow: {slow.value} · long: {long.value}, {long.value.said!r} · held: {answer.text!r}")
    assert slow.value.timed_out
    assert ("truncated", 8) == (long.value.code, long.value.tokens[1])
    assert json.loads(answer.text)["town"] in {"Ulm", "Linz"}
    assert answer.tokens_in > 0


async def test_a_server_that_dies_puts_the_turn_back(bench):
    with llamacpp.serving(WINDOW) as base_url:
        bench.ctx.llm = opened(base_url, timeout_s=PATIENCE_S)
    await bench.tell(event(TURNS[0], seq=1))
    [row] = await bench.rows("SELECT tenant_id, id, fence FROM turns")
    outcome = await jobs.run(bench.ctx, "extract", row["tenant_id"], row["id"], row["fence"])
    await bench.ctx.llm.close()
    [row] = await bench.rows("SELECT state, attempts, reason FROM turns")
    print(f"{outcome}: {row['reason']}")
    assert ("received", 0) == (row["state"], row["attempts"])
    assert "can't be reached" in row["reason"]
