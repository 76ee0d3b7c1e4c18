"""Names lead to entities: whole, and word by word where a person has joined two."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from nextlevel.recall import Mode
from nextlevel.recall.names import Names
from nextlevel.store import merges, search
from tests.support.memory import person


def test_a_word_of_a_name_means_its_bearer_only_where_it_has_several():
    """Else "api" would mean every service that has it in its name."""
    shop, harbour = uuid4(), uuid4()
    names = Names([("harbour api", harbour), ("shop", shop)])
    assert [("shop", shop)] == names.find(["shop", "quay"], ["api"])
    names.add([("old api", shop)])
    assert [("old api", shop)] == names.find([], ["api"])
    assert 1 == names.lacks([("shop", shop), ("shop", harbour)])


@pytest.fixture(params=["hot", "sql"])
def found(request, nele, ask, hot):
    """What a search by words and names finds: in a hot scope, or in Postgres."""

    async def objects(query: str) -> set[str]:
        if request.param == "hot":
            answer = await hot(query, nele, mode=Mode.SEARCH)
        else:
            answer = await ask(query, mode=Mode.SEARCH, as_of=datetime.now(UTC))
        return {item.block.object for item in answer.items if item.block is not None}

    return objects


@pytest.fixture
async def two(nele):
    """One person under two names that share no word, each with a fact; and others, so that words weigh something."""
    nele.embedder = None
    for number in range(3):
        await nele.tell(f"service-{number}", "runs_on_port", f"90{number}0")
    await nele.tell("Amrei Stoll", "uses", "Emacs")
    await nele.tell("Mimi", "keeps", "bees")


async def joined(nele, kept: str, merged: str) -> None:
    async with nele.db.memory(nele.scope) as conn:
        await merges.merge(conn, nele.scope, *[await merges.find(conn, nele.scope, name) for name in (kept, merged)])


async def split_off(nele, kept: str, name: str) -> None:
    async with nele.db.memory(nele.scope) as conn:
        await merges.split(conn, nele.scope, await merges.find(conn, nele.scope, kept), name)


@pytest.mark.parametrize(("kept", "merged"), [("Mimi", "Amrei Stoll"), ("Amrei Stoll", "Mimi")])
async def test_what_is_said_of_two_who_are_one_is_found_by_each_word_of_either_name(nele, two, found, kept, merged):
    """A merge renames blocks; who asks by the other name, or half of it, asks for the same. A split takes that back."""
    assert {"Emacs"} == await found("what about Stoll?")
    await joined(nele, kept, merged)
    for name in ("Mimi", "Stoll", "Amrei Stoll"):
        assert {"Emacs", "bees"} == await found(f"what about {name}?")
    await split_off(nele, kept, merged)
    assert ({"Emacs"}, {"bees"}) == (await found("what about Stoll?"), await found("what about Mimi?"))


async def test_a_name_of_which_only_another_profile_has_facts_leads_to_ours(db, nele, two, found):
    """None of our blocks moves then; the copies that answer must learn of the name all the same."""
    work = await person(db, "nele", user="nele", profile="work")
    await work.tell("Miriam", "was_met", "at work")
    assert set() == await found("what about Miriam?")
    await joined(nele, "Mimi", "Miriam")
    assert {"bees"} == await found("what about Miriam?")
    await split_off(nele, "Mimi", "Miriam")
    assert set() == await found("what about Miriam?")


async def test_a_moved_block_is_indexed_under_its_new_name_and_forgotten_whole(nele, two):
    """What looks for the same fact, as "forget that" does, goes by words alone; and each word is counted once."""
    await joined(nele, "Mimi", "Amrei Stoll")
    await joined(nele, "service-1", "service-2")
    async with nele.db.memory(nele.scope) as conn:
        [moved] = await search.by_words(conn, nele.scope, ["stoll"], as_of=None, limit=9)
        both = await search.by_words(conn, nele.scope, ["mimi"], as_of=None, limit=9)
    assert (2, True) == (len(both), moved in both)
    await split_off(nele, "Mimi", "Amrei Stoll")
    for block in both:
        await nele.forget(block)
    async with nele.db.memory(nele.scope) as conn:
        assert {} == (await search.weigh(conn, ["mimi", "stoll", "emacs", "bees"]))[0]
