"""Whatever model makes the vectors: the same lines are right, silence stays silence, and a change costs no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nextlevel import settings
from nextlevel.inference import measure, open_embedder
from nextlevel.recall.answer import Mode, Rung
from tests.support.models import other_cosines, serving

TOLD = (
    ("crm", "runs_on_port", "8080"),
    ("Nele", "drinks_in_the_morning", "black coffee"),
    ("grandma's plum cake", "needs", "cinnamon"),
    ("webshop", "stores_its_data_in", "MariaDB"),
    ("night train", "leaves_from", "platform 9"),
)
ASKED = "which database system does the online store use?"
UNKNOWN = "how tall is the Eiffel tower?"


@pytest.fixture
async def other(embedder):
    """The packaged model's meaning with quite other cosines, on a socket."""
    with serving() as server:
        server.embed = await other_cosines(embedder)
        opened = open_embedder(settings.load(embed_base_url=server.base_url, embed_model="other"))
        await measure(opened)
        yield opened
        await opened.close()


async def test_a_model_with_other_cosines_lets_in_what_is_right_and_nothing_else(nele, hot, recall, ask, other):
    """Thresholds fitted to one model would let in everything of another, or nothing."""
    whose = replace(nele, embedder=other)
    await recall.take_up(other)
    for each in TOLD:
        await whose.tell(*each)
    for answered, rung in (
        (await ask(ASKED, mode=Mode.SEARCH), Rung.SQL),
        (await hot(ASKED, whose, mode=Mode.SEARCH), Rung.HOT),
    ):
        assert answered.vectors
        assert ["MariaDB"] == [item.block.object for item in answered.items], rung
    assert () == (await ask(UNKNOWN, mode=Mode.SEARCH)).items


async def test_a_change_of_model_costs_no_answer(nele, recall, ask, other):
    """What has no vector of the new model yet is found by words."""
    await nele.tell("crm", "runs_on_port", "8080")
    before = await ask("which port does the crm run on?")
    await recall.take_up(other)
    during = await ask("which port does the crm run on?")
    await recall.take_up(None)
    without = await ask("which port does the crm run on?")
    assert ["8080"] * 3 == [answer.items[0].block.object for answer in (before, during, without)]
    assert (True, False) == (before.vectors, without.vectors)
