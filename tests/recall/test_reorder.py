"""A cross-encoder may put recall's lines in order; late or broken it costs neither the answer nor its deadline."""

from __future__ import annotations

import pytest

from nextlevel.recall import Mode, Recall, service
from nextlevel.settings import Settings
from tests.recall.conftest import question
from tests.support.models import serving

ASKED = "port of the crm"


@pytest.fixture
def server():
    with serving() as running:
        yield running


@pytest.fixture
async def reordered(server, nele, database, db, cache, embedder):
    """Ask in Nele's name, with the reranker; Nele knows of two ports."""
    await nele.tell("crm", "has_port", "8080")
    await nele.tell("crm", "has_test_port", "8091")
    recall = Recall(Settings(postgres_dsn=database.dsn, rerank_base_url=server.base_url), db, cache, embedder)

    async def ask(**more):
        return await recall.answer(question(nele, ASKED, **{"mode": Mode.SEARCH, **more}))

    yield ask
    await recall.close()


def objects(answer) -> list[str]:
    return [item.block.object for item in answer.items]


async def test_lines_come_in_its_order_and_the_explanation_shows_its_part(reordered, server):
    for best in ("8080", "8091"):
        server.relevance = lambda text, best=best: 0.9 if best in text else 0.2
        answer = await reordered()
        assert best == objects(answer)[0]
        assert [0.9, 0.2] == [item.channels["rerank"] for item in answer.items]
        assert answer.items[0].score >= answer.items[1].score


async def test_one_that_is_late_leaves_the_own_order_within_the_deadline(reordered, server, monkeypatch):
    """It is a better order, not the answer: the deadline belongs to the person who waits."""
    monkeypatch.setattr(service, "_MARGIN_S", 2.0)  # a busy machine takes longer than 10 ms to write an answer down
    own = objects(await reordered())
    server.going.clear()
    answer = await reordered(deadline_ms=4_000)
    server.going.set()
    assert own == objects(answer)
    assert all("rerank" not in item.channels for item in answer.items)


async def test_one_that_fails_is_left_alone_for_a_while(reordered, server):
    """Three failures say enough; each further question would wait for a fourth."""
    server.status = 500
    for _ in range(5):
        assert ["8080", "8091"] == sorted(objects(await reordered()))
    assert 3 == len(server.asked)


async def test_it_is_not_asked_where_there_is_nothing_to_order(reordered, server):
    await reordered(most=1)
    assert [] == server.asked
