""" "What do you know about me?" is like no memory, and asks for all of them."""

import pytest

from nextlevel.model import BlockType
from nextlevel.recall import Mode
from nextlevel.recall.overview import About, asked

ME = ["What do you know about me?", "was weißt du über mich", "Vad vet du om mig?", "co o mnie wiesz?"]


@pytest.mark.parametrize("query", ME)
@pytest.mark.parametrize("mode", list(Mode))
async def test_who_asks_about_themselves_gets_an_overview(nele, ask, query, mode):
    await nele.tell("user", "prefers", "compact tables", shared=True, type=BlockType.USER_PREFERENCE)
    await nele.tell("user", "lives_in", "Freiburg", shared=True)
    await nele.tell("crm", "runs_on_port", "8080")
    answer = await ask(query, mode=mode)
    assert not answer.abstained
    assert {item.block.object for item in answer.items} == {"compact tables", "Freiburg"}


async def test_who_asks_about_the_project_in_focus_gets_what_holds_of_it(nele, ask):
    await nele.tell("crm", "runs_on_port", "8080", project="crm")
    await nele.tell("gauge", "runs_on_port", "9000", project="pegel")
    answer = await ask("what do you know about this project?", project="crm")
    assert [item.block.object for item in answer.items] == ["8080"]


async def test_of_a_person_of_whom_nothing_is_known_there_is_no_overview(nele, ask):
    answer = await ask("what do you know about me?")
    assert (answer.context, answer.abstained) == ("", True)


def test_what_asks_for_one_thing_asks_for_no_overview():
    assert asked("what do you know about me?") is About.ME
    assert asked("what do you know about docker?") is None
    assert asked("who am I meeting on Friday?") is None
