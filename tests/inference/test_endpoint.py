"""Vectors from a server on a socket: few calls, right order, and any fault told as one that words and graph survive."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from nextlevel import settings
from nextlevel.errors import EmbedderUnavailable, Misconfigured
from nextlevel.inference import Embedder, Measures, measure, open_embedder
from tests.support.models import ModelServer, other_cosines, serving
from tests.support.ports import free_port


def opened(base_url: str, model: str = "bge-m3", **more: object) -> Embedder:
    return open_embedder(settings.load(embed_base_url=base_url, embed_model=model, **more))


def by_length(texts: Sequence[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def inputs(server: ModelServer) -> list[list[str]]:
    return [body["input"] for _, _, body in server.asked]


async def until_asked(server: ModelServer, times: int) -> None:
    while len(server.asked) < times:
        await asyncio.sleep(0.005)


async def test_each_text_gets_its_own_vector_made_of_unit_length():
    """A server may answer in any order and any length; a mix-up would be a memory found by another's meaning."""
    with serving() as server:
        server.embed = by_length
        embedder = opened(server.base_url)
        rows = await embedder.passages(["a", "bbb"])
        await embedder.close()
    assert np.allclose([[2**-0.5, 2**-0.5], [0.9**0.5, 0.1**0.5]], rows)


async def test_what_is_asked_while_a_call_is_out_goes_together_and_what_nobody_waits_for_is_not_sent():
    """A hundred passages one by one cost a hundred round trips; a query that has expired costs the GPU for nothing."""
    with serving() as server:
        server.going.clear()
        embedder = opened(server.base_url)
        first = asyncio.create_task(embedder.passages(["first"]))
        await until_asked(server, 1)
        others = [asyncio.create_task(embedder.passages([text])) for text in ("second", "given up", "third")]
        await asyncio.sleep(0)
        others[1].cancel()
        await asyncio.sleep(0)
        query = asyncio.create_task(embedder.query("a query does not wait for passages"))
        await until_asked(server, 2)
        server.going.set()
        await asyncio.gather(first, others[0], others[2], query)
        await embedder.close()
    assert [["first"], ["a query does not wait for passages"], ["second", "third"]] == inputs(server)


@pytest.mark.parametrize(
    ("name", "more", "sent"),
    [
        ("intfloat/multilingual-e5-large", {}, ["query: q", "passage: p"]),
        ("bge-m3", {}, ["q", "p"]),
        ("nomic-embed-text", {"embed_query_prefix": "search_query: "}, ["search_query: q", "p"]),
    ],
)
async def test_a_model_gets_the_prefixes_that_it_was_trained_with(name, more, sent):
    """Without them E5 loses much of what it can; nobody who names an E5 should have to know."""
    with serving() as server:
        embedder = opened(server.base_url, name, **more)
        await embedder.query("q")
        await embedder.passages(["p"])
        await embedder.close()
    assert sent == [text for texts in inputs(server) for text in texts]


async def test_other_prefixes_are_another_model():
    """The same weights with other prefixes give vectors that can't be compared."""
    plain, prefixed = opened("http://127.0.0.1:1/v1"), opened("http://127.0.0.1:1/v1", embed_query_prefix="q: ")
    assert plain.model != prefixed.model
    await plain.close()
    await prefixed.close()


async def test_a_text_that_the_server_finds_too_long_is_cut_and_the_others_are_not():
    """One paste in Chinese must not keep thirty other blocks without a vector."""
    with serving() as server:
        server.embed = by_length
        embedder = opened(server.base_url)
        await embedder.passages(["it works"])
        server.longest = 300
        await embedder.passages(["short", "漢" * 1_000])
        await embedder.close()
    assert 250 == len(inputs(server)[-1][0])
    assert ["short"] in inputs(server)


async def test_a_server_that_does_not_know_the_model_is_asked_once():
    with serving() as server:
        server.status = 400
        embedder = opened(server.base_url)
        with pytest.raises(EmbedderUnavailable, match="400"):
            await embedder.passages(["a", "b", "c"])
        await embedder.close()
    assert 1 == len(server.asked)


@pytest.mark.parametrize("status", [401, 404, 429, 500, 503])
async def test_a_refusal_is_told_with_its_status(status):
    with serving() as server:
        server.status = status
        embedder = opened(server.base_url)
        with pytest.raises(EmbedderUnavailable, match=str(status)):
            await embedder.query("x")
        await embedder.close()


async def test_a_server_that_asks_for_patience_is_not_asked_again_before():
    with serving() as server:
        server.status, server.headers = 429, {"Retry-After": "30"}
        embedder = opened(server.base_url)
        for _ in range(2):
            with pytest.raises(EmbedderUnavailable):
                await embedder.query("x")
        await embedder.close()
    assert 1 == len(server.asked)


async def test_a_server_that_is_away_or_silent_is_told_as_such():
    nobody = opened(f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(EmbedderUnavailable, match="can't be reached"):
        await nobody.query("x")
    await nobody.close()
    with serving() as server:
        server.going.clear()
        silent = opened(server.base_url, embed_timeout_s=0.2)
        with pytest.raises(EmbedderUnavailable, match=r"within 0\.2 s"):
            await silent.query("x")
        await silent.close()
        server.going.set()


@pytest.mark.parametrize("rows", [[], [[]], [[0.0, 0.0]], [[float("nan"), 1.0]], [["x"]], [None]])
async def test_what_is_no_vector_does_not_get_into_memory(rows):
    """Servers that call themselves compatible send many things; a NaN in a scope would spoil every mean."""
    with serving() as server:
        server.embed = lambda texts: rows
        embedder = opened(server.base_url)
        with pytest.raises(EmbedderUnavailable):
            await embedder.query("x")
        await embedder.close()


async def test_another_dimension_under_the_same_name_is_refused():
    """Somebody put other weights behind the name: their vectors must not join those of the old."""
    with serving() as server:
        embedder = opened(server.base_url)
        embedder.measures = Measures(768, 0.3, 0.4)
        with pytest.raises(EmbedderUnavailable, match="another model under the same name"):
            await embedder.query("x")
        await embedder.close()


async def test_a_model_with_other_cosines_is_measured_so_that_thresholds_hold():
    """The packaged model centred has the same order and cosines around 0: read as the packaged one's, they agree."""
    packaged = open_embedder(settings.load())
    texts = ["The crm listens on port 8080.", "Grandma's plum cake needs cinnamon.", "Der Webshop läuft auf MariaDB."]
    with serving() as server:
        server.embed = await other_cosines(packaged)
        embedder = opened(server.base_url)
        measures = await measure(embedder)
        query, rows = await embedder.query("Which port does the crm use?"), await embedder.passages(texts)
        lifts = [measures.read(float(row @ query)) - 0.74 for row in rows]
        await embedder.close()
    ours = await packaged.query("Which port does the crm use?")
    await packaged.close()
    assert 384 == measures.dimension
    assert measures.times < 0.6, "its cosines are spread further"
    assert np.argsort(lifts).tolist() == np.argsort([float(row @ ours) for row in rows]).tolist()
    assert max(lifts[1:]) < 0.045 < lifts[0], "what is no answer stays below what lets a block in"


async def test_a_server_without_a_model_is_told_at_start():
    with pytest.raises(Misconfigured, match="NEXTLEVEL_EMBED_MODEL"):
        open_embedder(settings.load(embed_base_url="http://127.0.0.1:1/v1"))
