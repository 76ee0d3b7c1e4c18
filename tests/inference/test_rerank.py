"""A cross-encoder on a socket, in either dialect; whatever goes wrong has a class that recall can do without."""

from __future__ import annotations

import pytest

from nextlevel import settings
from nextlevel.errors import ModelBusy, UnusableAnswer
from nextlevel.inference import open_reranker
from tests.support.models import ModelServer, serving
from tests.support.ports import free_port


async def scored(base_url: str, *texts: str, times: int = 1) -> list[float]:
    reranker = open_reranker(settings.load(rerank_base_url=base_url, rerank_model="bge-reranker"))
    assert reranker is not None
    try:
        for _ in range(times - 1):
            await reranker.scores("q", texts)
        return await reranker.scores("q", texts)
    finally:
        await reranker.close()


def bodies(server: ModelServer) -> list[dict]:
    return [body for _, _, body in server.asked]


def test_none_is_opened_unless_one_is_named():
    assert open_reranker(settings.load()) is None


async def test_scores_come_in_the_order_of_the_texts():
    """Servers answer best first; a mix-up would put the worst line on top."""
    with serving() as server:
        server.relevance = float
        assert [0.1, 0.9, 0.5] == await scored(server.base_url, "0.1", "0.9", "0.5")
    assert [{"model": "bge-reranker", "query": "q", "documents": ["0.1", "0.9", "0.5"], "top_n": 3}] == bodies(server)


async def test_a_server_of_the_other_dialect_is_asked_in_it_from_then_on():
    with serving() as server:
        server.dialect = "texts"
        await scored(server.base_url, "a", "b", times=2)
    assert [False, True, True] == ["texts" in body for body in bodies(server)]


@pytest.mark.parametrize(("status", "error"), [(503, ModelBusy), (429, ModelBusy), (401, UnusableAnswer)])
async def test_a_refusal_has_its_class(status, error):
    with serving() as server:
        server.status = status
        with pytest.raises(error, match=str(status)):
            await scored(server.base_url, "a", "b")


async def test_nobody_there_is_busy():
    with pytest.raises(ModelBusy, match="can't be reached"):
        await scored(f"http://127.0.0.1:{free_port()}/v1", "a", "b")


@pytest.mark.parametrize("score", [float("nan"), None, "good"])
async def test_what_is_no_score_is_of_no_use(score):
    with serving() as server:
        server.fits = lambda texts: [{"index": n, "relevance_score": score} for n, _ in enumerate(texts)]
        with pytest.raises(UnusableAnswer):
            await scored(server.base_url, "a", "b")


async def test_a_text_without_a_score_is_of_no_use():
    with serving() as server:
        server.fits = lambda texts: [{"index": 0, "relevance_score": 1.0}]
        with pytest.raises(UnusableAnswer, match="1 texts, for 2"):
            await scored(server.base_url, "a", "b")
