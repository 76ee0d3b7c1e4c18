"""A model server is slow, busy, gone or odd; each has a class of its own, since each asks for another answer."""

from __future__ import annotations

import pytest

from nextlevel import settings
from nextlevel.errors import Misconfigured, ModelBusy, UnusableAnswer
from nextlevel.inference import open_llm
from nextlevel.inference.llm import CompatibleLLM
from tests.support.host.fake_openai import MODEL, FakeOpenAI
from tests.support.ports import free_port

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
ASK = [{"role": "user", "content": "What is worth keeping?"}]


async def asked(server: FakeOpenAI, *, times: int = 1, timeout_s: float = 10):
    """The last of so many answers by one client."""
    llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=timeout_s)
    try:
        for _ in range(times - 1):
            await llm.complete(ASK, SCHEMA, max_tokens=50)
        return await llm.complete(ASK, SCHEMA, max_tokens=50)
    finally:
        await llm.close()


async def test_an_answer_comes_with_its_tokens_and_the_request_holds_the_model_to_the_schema():
    with FakeOpenAI([{"text": "{}"}]) as server:
        answer = await asked(server)
        [request] = server.requests
    assert ("{}", 1, 1) == (answer.text, answer.tokens_in, answer.tokens_out)
    assert {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}} == request[
        "response_format"
    ]
    assert (MODEL, 50, 0) == (request["model"], request["max_tokens"], request["temperature"])


async def test_a_server_that_knows_no_schema_is_asked_for_plain_json_from_then_on():
    """Older servers refuse `json_schema`; asking twice for every turn would double their work."""
    with FakeOpenAI([{"status": 400}, {"text": "{}"}, {"text": "{}"}]) as server:
        await asked(server, times=2)
        formats = [request["response_format"]["type"] for request in server.requests]
    assert ["json_schema", "json_object", "json_object"] == formats


async def test_a_server_that_takes_the_request_in_no_format_refused_it():
    with FakeOpenAI([{"status": 400}, {"status": 400}]) as server, pytest.raises(UnusableAnswer) as caught:
        await asked(server)
    assert "refused" == caught.value.code


async def test_a_server_that_does_not_listen_is_busy_so_that_the_turn_waits():
    llm = CompatibleLLM(f"http://127.0.0.1:{free_port()}/v1", MODEL, None, timeout_s=10)
    with pytest.raises(ModelBusy, match="can't be reached") as caught:
        await llm.complete(ASK, SCHEMA, max_tokens=50)
    assert not caught.value.timed_out
    await llm.close()


async def test_an_answer_that_takes_too_long_is_given_up_and_says_so():
    """A GPU that is swamped must not hold a worker's slot for ever."""
    with FakeOpenAI([{"hang": True}]) as server, pytest.raises(ModelBusy) as caught:
        await asked(server, timeout_s=0.3)
    assert caught.value.timed_out


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_busy_server_is_no_fault_of_the_turn(status):
    with FakeOpenAI([{"status": status}]) as server:
        with pytest.raises(ModelBusy, match=str(status)):
            await asked(server)
        assert 1 == len(server.requests), "nobody retries behind our back"


async def test_a_server_that_asks_for_patience_is_not_asked_again_before():
    """Eight jobs that all try at once are how a rate limit becomes a ban."""
    llm = None
    with FakeOpenAI([{"status": 429, "headers": {"Retry-After": "30"}}]) as server:
        llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        with pytest.raises(ModelBusy) as first:
            await llm.complete(ASK, SCHEMA, max_tokens=50)
        with pytest.raises(ModelBusy) as second:
            await llm.complete(ASK, SCHEMA, max_tokens=50)
        assert 1 == len(server.requests)
    assert 30 == first.value.retry_after_s
    assert 0 < second.value.retry_after_s <= 30
    await llm.close()


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"text": None, "refusal": "I can't help with that."}, "refused"),
        ({"text": "x", "finish": "content_filter"}, "refused"),
        ({"status": 401}, "refused"),
        ({"status": 404}, "refused"),
        ({"text": '{"memories": [', "finish": "length"}, "truncated"),
        ({"text": ""}, "malformed"),
        ({"raw": "<html>a proxy's page</html>"}, "malformed"),
        ({"raw": '{"choices": []}'}, "malformed"),
        ({"raw": "[]"}, "malformed"),
    ],
)
async def test_an_answer_that_is_of_no_use_says_of_which_kind(step, code):
    with FakeOpenAI([step]) as server, pytest.raises(UnusableAnswer) as caught:
        await asked(server)
    assert code == caught.value.code


async def test_an_answer_that_is_of_no_use_costs_what_the_server_counted():
    """A bound of a day that is kept by guesses is passed by the answers that went on for too long."""
    with (
        FakeOpenAI([{"text": '{"memories": [', "finish": "length"}]) as server,
        pytest.raises(UnusableAnswer) as caught,
    ):
        await asked(server)
    assert (1, 1) == caught.value.tokens


def test_no_model_is_opened_unless_one_is_named_and_wanted(tmp_path):
    named = {"llm_base_url": "http://127.0.0.1:1/v1", "llm_model": "m", "data_dir": tmp_path}
    assert open_llm(settings.load(data_dir=tmp_path)) is None
    assert open_llm(settings.load(**named, llm="off")) is None
    opened = open_llm(settings.load(**named))
    assert opened is not None
    assert "m" == opened.model


def test_a_bound_in_money_without_a_price_is_told_at_start(tmp_path):
    """It would never be reached, and nobody would know until the bill."""
    named = {"llm_base_url": "http://127.0.0.1:1/v1", "llm_model": "m", "data_dir": tmp_path}
    with pytest.raises(Misconfigured, match="NEXTLEVEL_LLM_PRICE"):
        open_llm(settings.load(**named, llm_money_per_day=1))
    assert open_llm(settings.load(**named, llm_money_per_day=1, llm_price="0.15/0.60")) is not None


def test_a_server_without_a_model_is_told_at_start(tmp_path):
    with pytest.raises(Misconfigured, match="NEXTLEVEL_LLM_MODEL"):
        open_llm(settings.load(data_dir=tmp_path, llm_base_url="http://127.0.0.1:1/v1"))
