"""What recall showed is never learnt again, on whatever way it comes back; that the assistant uses it is use."""

import asyncio
import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nextlevel.inference.llm import CompatibleLLM
from nextlevel.model import ToolCall
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.hermes.provider import Provider
from nextlevel.queue import streams
from nextlevel.recall import render
from nextlevel.safety.markers import HEADER
from nextlevel.store import recalls, search
from nextlevel.store.recalls import Recalled
from nextlevel.wire import http, resp
from tests.support.builders import event
from tests.support.host.fake_openai import MODEL, FakeOpenAI
from tests.support.service import running

NOW = datetime.now(UTC)
PORT = "waldseilgarten-crm runs on port 8080."
INSTALL = "k3v9wq"


def now(text: str, seq: int, **more):
    return replace(event(text, seq=seq, install=INSTALL, **more), at=NOW.isoformat())


async def memory(bench):
    """All that evidence could change."""
    blocks = await bench.rows("SELECT block_id, object, status, confidence FROM blocks ORDER BY block_id")
    sources = await bench.rows("SELECT block_id, turn_id FROM block_sources ORDER BY 1, 2")
    return [tuple(row) for row in blocks], [tuple(row) for row in sources]


async def show(bench, session: str) -> str:
    """Recall shows all that is known in a session, and it is written down as the service does; the injected text."""
    scope = await bench.scope(install=INSTALL)
    async with bench.ctx.db.memory(scope) as conn:
        blocks = await search.page(conn, scope, limit=10)
    async with bench.ctx.db.pipeline() as conn:
        shown = tuple((block.id, 0.9) for block in blocks)
        told = Recalled(scope.tenant_id, scope.user_id, session, NOW, "?", "prefetch", "sql", 1, False, False, shown)
        await recalls.add(conn, [told])
    return render.context([render.line(block, now=NOW) for block in blocks], 400)[0]


@contextmanager
def agent(path, redis_url):
    """The real plugin in a home, with a service that answers as told."""
    with running() as service:
        path.mkdir()
        known = {"install": INSTALL, "home": str(path), "token": "tok", "redis_url": redis_url}
        save(path, Config(**known, service_url=service.url, prefetch_ms=2_000))
        home = homes.of(path)
        yield lambda session: _provider(path, session), service
        home.finish(30)
        home.database.close()
        for client in (*http._clients.values(), *resp._clients.values()):
            client.close()


def _provider(path, session):
    provider = Provider()
    provider.initialize(session, hermes_home=str(path), platform="cli")
    return provider


async def arrived(bench, count):
    """Take turns in until so many are there: the plugin sends them aside of its caller."""
    async with asyncio.timeout(20):
        while len(await bench.states()) < count:
            await bench.ingest()


async def test_nothing_comes_back_by_the_plugin_and_the_assistants_use_renews_the_block(bench, valkey, tmp_path):
    """The whole circle: told, recalled, repeated by the assistant, pasted by the user, paraphrased."""
    await streams.ensure_group(bench.ctx.redis)
    with agent((tmp_path / "home").resolve(), valkey.url) as (provider, service):
        provider("s1").sync_turn(PORT, "Noted.")
        await arrived(bench, 1)
        await bench.drain()
        before = await memory(bench)
        assert 1 == len(before[0])
        await bench.rows("UPDATE blocks SET expires_at = now() + interval '3 days'")

        context = await show(bench, "s2")
        service.body = json.dumps({"context": context}).encode()
        speaker = provider("s2")
        line = speaker.prefetch("which port?").splitlines()[1]
        speaker.sync_turn("which port does it use?", f"From memory:\n{line}\nSo it runs on port 8080.")
        speaker.sync_turn(f"you said\n{line}\nis that still so?", "Yes, eighty-eighty it is.")
        speaker.sync_turn(f"<memory-context>\n{context}\n</memory-context>\nok?", f"{HEADER}\n{line}\n\nOK.")
        await arrived(bench, 4)
        await bench.drain()

    assert 4 == len(await bench.states())
    assert before == await memory(bench)
    [block] = await bench.rows(
        "SELECT access_count, last_accessed, expires_at > now() + interval '80 days' AS renewed FROM blocks"
    )
    assert (1, True) == (block["access_count"], block["renewed"])
    assert block["last_accessed"] is not None


async def test_nothing_comes_back_from_a_host_that_strips_nothing(bench):
    """A host with an API client of its own: raw context in user text, answer, and tool results."""
    await bench.remember(now(PORT, 1))
    before = await memory(bench)
    context = await show(bench, "s2")
    line = context.splitlines()[1]
    search_result = ToolCall("nextlevel_search", "{}", f"{context}\n")
    await bench.remember(
        now(f"{context}\n\nwhich port does it use?", 2, session="s2", assistant_text="8080.", tools=(search_result,)),
        now(f"{line}\nremember that, please", 3, session="s2"),
        now(line.removeprefix("- "), 4, session="s2"),
    )
    assert before == await memory(bench)
    facts = [
        json.loads(row["facts"]) for row in await bench.rows("SELECT facts FROM trace_events WHERE step = 'extract'")
    ]
    assert [1, 1] == [each["echoes"] for each in facts if "echoes" in each]


@pytest.mark.parametrize("object_", ["8080", "the usual port, eighty-eighty"])
async def test_a_models_finding_in_the_assistants_echo_makes_no_block_and_no_evidence(bench, object_):
    """The assistant says back what it was shown; a model that reads the turn takes it for news."""
    await bench.remember(now(PORT, 1))
    before = await memory(bench)
    await show(bench, "s2")
    said = "As I recall, waldseilgarten-crm listens on 8080, the usual port, eighty-eighty."
    finding = {
        "type": "project_state",
        "category": "tech_stack",
        "subject": "waldseilgarten-crm",
        "predicate": "listens_on",
        "object": object_,
        "key": None,
        "value": None,
        "confidence": 0.9,
        "span": said,
        "entities": [],
    }
    with FakeOpenAI([], default=json.dumps({"memories": [finding]})) as server:
        bench.ctx.llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        await bench.remember(
            now(
                "please check the config of larkfield. The shelf near Lindqvist wobbles.",
                2,
                session="s2",
                assistant_text=said,
            )
        )
        await bench.ctx.llm.close()
    assert 1 == len(server.requests)
    assert before == await memory(bench)
    steps = await bench.rows(
        "SELECT facts FROM trace_events WHERE step = 'extract' ORDER BY trace_event_id DESC LIMIT 1"
    )
    assert "echo" in {each["why"] for each in json.loads(steps[0]["facts"])["dropped"]}


async def test_the_assistants_word_for_what_is_known_adds_no_confidence_even_if_nothing_was_shown(bench):
    """It may know it from tier 2, or from the prompt: it is still no evidence."""
    await bench.remember(now(PORT, 1))
    before = await memory(bench)
    finding = {
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
    with FakeOpenAI([], default=json.dumps({"memories": [finding]})) as server:
        bench.ctx.llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        await bench.remember(
            now(
                "please check the config of larkfield. The shelf near Lindqvist wobbles.",
                2,
                session="s3",
                assistant_text=f"By the way, {PORT}",
            )
        )
        await bench.ctx.llm.close()
    assert before == await memory(bench)
    [block] = await bench.rows("SELECT access_count FROM blocks")
    assert 1 == block["access_count"]


async def test_what_only_the_assistant_says_makes_no_block(bench):
    """A guess, or a paraphrase of what a rung showed that nobody wrote down."""
    said = "The nightly backups of larkfield are Imke's baby, as far as I remember."
    finding = {
        "type": "entity_relationship",
        "category": "contact",
        "subject": "Imke",
        "predicate": "looks_after",
        "object": "nightly backups",
        "key": None,
        "value": None,
        "confidence": 0.9,
        "span": "The nightly backups of larkfield are Imke's baby",
        "entities": [],
    }
    with FakeOpenAI([], default=json.dumps({"memories": [finding]})) as server:
        bench.ctx.llm = CompatibleLLM(server.base_url, MODEL, None, timeout_s=10)
        await bench.remember(
            now("please check the config of larkfield. The shelf near Lindqvist wobbles.", 1, assistant_text=said)
        )
        await bench.ctx.llm.close()
    assert [] == await bench.rows("SELECT FROM blocks")
    [step] = await bench.rows("SELECT facts FROM trace_events WHERE step = 'store'")
    assert "only the assistant said it" == json.loads(step["facts"])["changes"][0]["why"]


async def test_what_the_user_says_in_their_own_words_is_evidence_still(bench):
    """Else a person could never confirm anything that recall has shown."""
    await bench.remember(now(PORT, 1))
    before = await memory(bench)
    await show(bench, "s2")
    await bench.remember(now(PORT, 2, session="s2"))
    after = await memory(bench)
    assert 2 == len(after[1])
    assert after[0][0][3] > before[0][0][3]


async def test_another_sessions_recall_renews_nothing(bench):
    await bench.remember(now(PORT, 1))
    await show(bench, "elsewhere")
    await bench.remember(now("which port?", 2, session="s2", assistant_text="It runs on port 8080."))
    [block] = await bench.rows("SELECT access_count FROM blocks")
    assert 0 == block["access_count"]
