"""A scope in use catches up in place: what each change of memory means for the copy that answers."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from nextlevel.model import EntityType
from nextlevel.recall import hot_scopes
from nextlevel.store import blocks, merges, search
from tests.support.memory import JUNE, person

ASKED = "which port does the crm run on?"


@pytest.fixture
async def held(nele, recall, hot):
    """The scope that answers, after a question; it must be the same one after each change."""
    for number in range(3):
        await nele.tell(
            f"service-{number}", "runs_on_port", f"90{number}0", names=[(f"host-{number}", EntityType.HOST)]
        )
    await hot("which port does service-1 run on?", nele)
    return recall._meaning.hot._scopes[nele.scope.readable]


def same(recall, nele, held) -> bool:
    return recall._meaning.hot._scopes[nele.scope.readable] is held


async def test_a_new_block_is_found_by_its_words_its_name_and_its_neighbour(nele, recall, hot, held):
    await nele.tell("crm", "runs_on_port", "8080", names=[("host-1", EntityType.HOST)])
    assert "8080" in (await hot(ASKED, nele)).context
    (crm,) = {entity for name, entity in await held.named(["crm"], []) if name == "crm"}
    assert 2 == len(await held.near([crm]))  # its own, and that of the service on the same host
    assert same(recall, nele, held)


async def test_a_replaced_block_goes_as_the_new_one_comes(nele, recall, hot, held):
    old = await nele.tell("crm", "runs_on_port", "8080")
    assert "8080" in (await hot(ASKED, nele)).context
    await nele.tell("crm", "runs_on_port", "8091", replaces=old, since=JUNE + timedelta(days=1))
    answer = await hot(ASKED, nele)
    assert ("8091" in answer.context, "8080" in answer.context) == (True, False)
    assert same(recall, nele, held)


async def test_a_forgotten_block_goes_though_no_row_says_so(nele, recall, hot, held):
    """A deletion leaves nothing that changed: the numbers tell. Its subject's name stays, for another block."""
    told = await nele.tell("crm", "runs_on_port", "8080")
    await nele.tell("crm", "is_kept_by", "Amrei")
    await hot(ASKED, nele)
    await nele.forget(told.id)
    answer = await hot(ASKED, nele)
    assert "8080" not in answer.context
    assert len(held) == 4
    assert same(recall, nele, held)


async def test_a_block_that_only_mentions_a_merged_entity_is_found_by_the_other_name(nele, recall, hot, held):
    """A merge by hand changes what blocks speak of, and no word of theirs; a split gives it back."""
    for subject, name in (("crm", "Flo"), ("wiki", "Florian")):
        await nele.tell(subject, "is_kept_by", name, names=[(name, EntityType.PERSON)])
    await hot("who keeps the crm?", nele)

    async def about(name: str) -> set[str]:
        await hot(f"what does {name} keep?", nele)
        bearers = {entity for _, entity in await held.named([name.lower()], [])}
        spoken = [id for id, hop in await held.near(bearers) if hop == 1]
        return {each.found.block.subject for each, _ in await held.entries(spoken, None)}

    async with nele.db.memory(nele.scope) as conn:
        kept, other = [await merges.find(conn, nele.scope, name) for name in ("Florian", "Flo")]
        await merges.merge(conn, nele.scope, kept, other)
    assert {"crm", "wiki"} == await about("Florian")
    async with nele.db.memory(nele.scope) as conn:
        await merges.split(conn, nele.scope, kept, "Flo")
    assert {"wiki"} == await about("Florian")
    assert same(recall, nele, held)


async def test_a_vector_that_comes_later_is_taken_up(nele, recall, hot, held, embedder):
    """Upkeep makes what was missing while the embedder was down."""
    nele.embedder = None
    told = await nele.tell("crm", "runs_on_port", "8080")
    await hot(ASKED, nele)
    (vector,) = await embedder.passages(["crm runs on port 8080"])
    async with nele.db.memory(nele.scope) as conn:
        await blocks.add_embedding(conn, nele.scope, told.scope_id, told.id, embedder.model, vector)
        await blocks.touch(conn, nele.scope, [told.id])
        truth = await search.generations(conn, nele.scope)
    held.generations = {}
    await recall._meaning.hot.get(nele.scope, truth)
    await asyncio.gather(*recall._meaning.hot._moving.values())
    assert told.id in {id for id, _ in (await held.by_vector(vector)).found}
    assert same(recall, nele, held)


async def test_a_scope_that_changed_much_is_built_anew_and_finds_the_same(nele, recall, hot, held):
    """Rows of what was replaced are never used again; too many of them cost time and memory."""
    last = None
    for number in range(8):
        last = await nele.tell("crm", "runs_on_port", f"70{number}0", replaces=last)
        assert f"70{number}0" in (await hot(ASKED, nele)).context
    anew = recall._meaning.hot._scopes[nele.scope.readable]
    assert anew is not held
    assert (len(anew), anew.wasted <= len(anew)) == (4, True)


async def test_scopes_that_are_large_together_make_room_for_the_one_in_use(
    nele, recall, hot, held, db, cache, embedder, monkeypatch
):
    """A count of scopes bounds no memory: one may have a thousand times the blocks of another."""
    monkeypatch.setattr(hot_scopes, "MOST_HELD", 5)
    iva = await person(db, "iva", user="iva", embedder=embedder, cache=cache)
    for number in range(3):
        await iva.tell(f"shop-{number}", "runs_on_port", f"80{number}0")
    assert "8010" in (await hot("which port does shop-1 run on?", iva)).context
    assert [iva.scope.readable] == list(recall._meaning.hot._scopes)
