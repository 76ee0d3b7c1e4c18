"""Another model's vectors beside the old: recall never stops, all switch at once, and nothing is made twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import numpy as np
import pytest

from nextlevel import settings
from nextlevel.embedding import Embedding
from nextlevel.errors import EmbedderUnavailable
from nextlevel.inference import PackagedEmbedder, open_embedder
from nextlevel.store import vectors
from nextlevel.workers.passages import embed_passages, index_turns
from nextlevel.workers.reembed import drop_old, make_all, switch
from nextlevel.workers.upkeep import embed_waiting
from tests.support.builders import event
from tests.support.models import serving

FACT = event("waldseilgarten-crm runs on port 8080.", seq=1)
OTHER = event("The staging server runs on port 8091.", seq=2)


def known_words(texts):
    """A model of a kind: which of some words stand in a text."""
    words = ("port", "crm", "staging", "coffee", "dog", "release", "cache", "billing", "reports", "holiday")
    return [[0.05, *(float(word in text.lower()) for word in words)] for text in texts]


@pytest.fixture
def server():
    with serving("other") as running:
        running.embed = known_words
        yield running


@pytest.fixture
async def other(server):
    opened = open_embedder(settings.load(embed_base_url=server.base_url, embed_model="other"))
    yield opened
    await opened.close()


@pytest.fixture
async def old(bench):
    """The packaged model in use, and one turn embedded by it."""
    embedding = Embedding(settings.load(), bench.ctx.db)
    await embedding.look()
    await bench.ctx.take_up(embedding.current)
    await bench.remember(FACT)
    await index_turns(bench.ctx)
    await embed_passages(bench.ctx)
    yield embedding
    await embedding.close()


async def by_model(bench) -> dict[str, tuple[int, int]]:
    """How many vectors of blocks and of past turns there are, by model."""
    found = await bench.rows(
        "SELECT model, count(*) FILTER (WHERE block) AS blocks, count(*) FILTER (WHERE NOT block) AS past FROM "
        "(SELECT model, true AS block FROM embeddings UNION ALL SELECT model, false FROM passage_embeddings) v "
        "GROUP BY model"
    )
    return {row["model"]: (row["blocks"], row["past"]) for row in found}


async def in_use(bench) -> str:
    async with bench.ctx.db.pipeline() as conn:
        active = await vectors.active(conn)
    assert active is not None
    return active.model


async def test_the_first_model_stays_until_all_vectors_of_another_are_made(bench, old, other, server):
    """A setting alone must change nothing: vectors of two models can't be compared."""
    ours = settings.load(embed_base_url=server.base_url, embed_model="other")
    changed = Embedding(ours, bench.ctx.db)
    await changed.look()
    assert changed.current is not None
    assert PackagedEmbedder.model == changed.current.model, "what can still be had is used"
    assert "nextlevel reembed" in changed.note

    told = []
    await make_all(bench.ctx.db, other, told.append)
    assert PackagedEmbedder.model == await in_use(bench)
    assert {PackagedEmbedder.model: (1, 1), "other": (1, 1)} == await by_model(bench)
    assert (2, 0) == (told[0].waiting, told[-1].waiting)

    assert await switch(bench.ctx.db, other)
    assert await changed.look(), "who was started with the new settings follows by itself"
    assert ("other", "") == (changed.current.model, changed.note)
    assert await old.look()
    assert old.current is None, "who was started with the old ones compares nothing, and says so"
    assert "the settings name" in old.note

    assert 2 == await drop_old(bench.ctx.db, switched=False)
    assert {"other": (1, 1)} == await by_model(bench)
    await changed.close()


async def test_it_goes_on_where_it_was_stopped(bench, old, other, server):
    """A night's work on a GPU that is stopped at dawn must not begin anew."""
    async with bench.ctx.db.memory(await bench.scope()) as conn:
        [block] = await bench.rows("SELECT block_id FROM blocks")
        row = np.zeros(11, dtype=np.float32)
        await vectors.add(conn, await bench.scope(), "other", {block["block_id"]: row + 11**-0.5})
    await make_all(bench.ctx.db, other, lambda now: None)
    assert 1 == sum(len(body["input"]) for _, _, body in server.asked), "only the past turn was missing"
    assert await switch(bench.ctx.db, other)
    server.asked.clear()
    await make_all(bench.ctx.db, other, lambda now: None)
    assert [] == server.asked
    assert not await switch(bench.ctx.db, other)


async def test_a_model_that_goes_away_meanwhile_changes_nothing(bench, old, other, server):
    server.status = 503
    with pytest.raises(EmbedderUnavailable):
        await make_all(bench.ctx.db, other, lambda now: None)
    assert PackagedEmbedder.model == await in_use(bench)
    assert {PackagedEmbedder.model: (1, 1)} == await by_model(bench)


async def test_the_vectors_in_use_are_never_removed(bench, old):
    assert 0 == await drop_old(bench.ctx.db, switched=False)
    assert {PackagedEmbedder.model: (1, 1)} == await by_model(bench)


async def test_while_an_endpoint_is_down_blocks_are_stored_and_wait_visibly(bench, server):
    """Memory goes on by words and graph; the vectors are made once the endpoint is back."""
    server.status = 503
    embedding = Embedding(settings.load(embed_base_url=server.base_url, embed_model="other"), bench.ctx.db)
    with pytest.raises(EmbedderUnavailable):
        await embedding.look()
    assert "503" in embedding.note
    await bench.remember(FACT, OTHER)
    server.status = 200
    assert await embedding.look()
    await bench.ctx.take_up(embedding.current)
    async with bench.ctx.db.pipeline() as conn:
        assert (2, 2) == ((now := await vectors.count(conn, "other")).blocks, now.blocks_waiting)
    assert 2 == await embed_waiting(bench.ctx)
    assert {"other": (2, 0)} == await by_model(bench)
    await embedding.close()


async def test_what_was_forgotten_while_the_model_thought_gets_no_vector(bench, old):
    """A foreign key that breaks here would stop every chore of the worker."""
    scope = await bench.scope()
    [block] = await bench.rows("SELECT block_id FROM blocks")
    await bench.rows("DELETE FROM blocks")
    async with bench.ctx.db.memory(scope) as conn:
        await vectors.add(conn, scope, "other", {block["block_id"]: np.ones(3, dtype=np.float32)})
    assert "other" not in await by_model(bench)


async def test_the_command_can_be_stopped_and_goes_on_when_it_is_run_again(bench, database, old, server):
    """Re-embedding takes hours; a laptop is closed meanwhile."""
    environment = {
        "NEXTLEVEL_POSTGRES_DSN": database.dsn,
        "NEXTLEVEL_EMBED_BASE_URL": server.base_url,
        "NEXTLEVEL_EMBED_MODEL": "other",
        "NEXTLEVEL_EMBED_TIMEOUT_S": "60",  # it must be the signal that ends it
    }
    server.going.clear()
    process = await reembed("--keep", **environment)
    while not server.asked:
        await asyncio.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = await process.communicate()
    assert (130, True) == (process.returncode, "run `nextlevel reembed` again" in told.decode())
    assert PackagedEmbedder.model == await in_use(bench)

    server.going.set()
    process = await reembed("--keep", **environment)
    told, _ = await process.communicate()
    assert (0, "recall compares by other\n") == (process.returncode, told.decode())
    assert {PackagedEmbedder.model: (1, 1), "other": (1, 1)} == await by_model(bench)


async def reembed(*options: str, **environment: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from nextlevel.ops.cli import main; main()",
        "reembed",
        *options,
        env=os.environ | environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
