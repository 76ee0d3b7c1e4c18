"""The packaged embedder on the real weights: what its engine gets wrong must not reach us."""

import asyncio
import threading

import numpy as np
import pytest

from nextlevel.errors import EmbedderUnavailable
from nextlevel.inference import open_embedder
from nextlevel.inference.packaged import QUERIES_AT_ONCE
from nextlevel.settings import Settings


@pytest.fixture
async def embedder():
    opened = open_embedder(Settings())
    yield opened
    await opened.close()


@pytest.mark.parametrize("text", ["", "\x00", "a\ud800b", "🙂" * 50, "漢字" * 5_000, "x" * 50_000, "\t\n "])
async def test_any_text_has_a_vector_of_unit_length(embedder, text):
    """The engine raises on a lone surrogate and takes minutes over a long text; a paste must not stop recall."""
    row = await embedder.query(text)
    assert (embedder.dimension,) == row.shape
    assert np.float32 == row.dtype
    assert pytest.approx(float(row @ row), abs=1e-4) == 1.0


async def test_what_follows_a_nul_counts(embedder):
    """The engine is written in C, where a NUL ends the text."""
    cut, whole = await embedder.query("port\x00 of the staging server"), await embedder.query("port")
    assert float(cut @ whole) < 0.999


async def test_passages_come_back_in_the_order_asked(embedder):
    """A vector stored with the wrong block would be a memory that answers somebody else's question."""
    texts = ["The crm runs on port 8080", "Flo likes tables", "Backups run at three"]
    rows = await embedder.passages(texts)
    singles = [(await embedder.passages([text]))[0] for text in texts]
    assert (3, embedder.dimension) == rows.shape
    assert np.allclose(rows, singles, atol=1e-5)


async def test_no_passages_are_no_rows(embedder):
    assert (0, embedder.dimension) == (await embedder.passages([])).shape


async def test_the_meaning_is_found_across_languages(embedder):
    """It is the default because it speaks more than English."""
    query = await embedder.query("Wie bringen wir die Testumgebung hoch?")
    rows = await embedder.passages(["Staging is deployed with docker compose", "Dogs need a walk twice a day"])
    assert rows[0] @ query > rows[1] @ query


async def test_a_query_overtakes_waiting_passages(embedder):
    """A person waits for the query; nobody waits for the passages."""
    done: list[str] = []

    async def note(name: str, work: asyncio.Future) -> None:
        await work
        done.append(name)

    passages = asyncio.ensure_future(note("passages", embedder.passages(["word " * 50] * 8)))
    await asyncio.sleep(0)  # let all of them be asked
    await note("query", embedder.query("which port?"))
    await passages
    assert done == ["query", "passages"]


async def test_a_query_that_nobody_waits_for_is_not_run(embedder, monkeypatch):
    """Under load, work past its deadline would make the next query late too."""
    runs, go_on = [], threading.Event()
    encode = embedder._engine.encode

    def slow(text, **how):
        runs.append(text)
        assert go_on.wait(60)
        return encode(text, **how)

    monkeypatch.setattr(embedder._engine, "encode", slow)
    first = [asyncio.ensure_future(embedder.query("first")) for _ in range(QUERIES_AT_ONCE)]
    late = asyncio.ensure_future(embedder.query("late"))
    await asyncio.sleep(0)
    late.cancel()
    await asyncio.gather(late, return_exceptions=True)  # the executor learns of it in the loop's next round
    go_on.set()
    await asyncio.gather(*first)
    await embedder.query("last")
    assert [*["first"] * QUERIES_AT_ONCE, "last"] == runs


async def test_queries_that_come_together_get_their_own_vectors(embedder):
    """They run side by side on one engine; a mixed-up vector would be somebody else's answer."""
    texts = [f"which port does service {number} use?" for number in range(12)]
    together = await asyncio.gather(*(embedder.query(text) for text in texts))
    assert np.allclose(together, [await embedder.query(text) for text in texts], atol=1e-5)


async def test_a_closed_embedder_answers_nobody_and_keeps_nobody_waiting():
    """A stop must not leave a recall hanging."""
    embedder = open_embedder(Settings())
    waiting = asyncio.ensure_future(embedder.passages(["word " * 50] * 8))
    await asyncio.sleep(0)
    await embedder.close()
    with pytest.raises(EmbedderUnavailable):
        await waiting
    with pytest.raises(EmbedderUnavailable):
        await embedder.query("which port?")
