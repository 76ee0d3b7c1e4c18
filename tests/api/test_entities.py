"""Entities joined and taken apart by hand: by name, reversibly, and for nobody else."""

from __future__ import annotations

from uuid import UUID

import pytest

from nextlevel.model import EntityType
from tests.api.test_endpoints import scope


async def entity(client, name: str) -> dict:
    answer = await client.get("/v1/entities", params={"install": "nele", "name": name})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def merge(client, keep: str, other: str, **more):
    return await client.post("/v1/entities/merge", json={"scope": scope(), "keep": keep, "merge": other, **more})


async def split(client, name: str, off: str, **more):
    return await client.post("/v1/entities/split", json={"scope": scope(), "entity": name, "name": off, **more})


@pytest.fixture
async def twice(nele):
    """One person who is known under two names, each with a fact."""
    short = await nele.tell("Flo", "uses", "Emacs", names=[("Emacs", EntityType.TECHNOLOGY)])
    long = await nele.tell("Florian", "works_on", "the shop", names=[("shop", EntityType.PROJECT)])
    return short, long


async def subjects(client) -> set[str]:
    edges = (await client.get("/v1/graph?install=nele")).json()["edges"]
    return {edge["subject"] for edge in edges}


async def test_after_a_merge_both_names_lead_to_one_entity(as_nele, twice):
    kept = (await merge(as_nele, "Florian", "Flo")).json()
    assert ("Florian", 2) == (kept["name"], kept["blocks"])
    assert {"flo", "florian"} == set(kept["aliases"])
    assert kept["id"] == (await entity(as_nele, "flo"))["id"]
    assert {"Florian"} == await subjects(as_nele)


async def test_a_split_takes_a_merge_back_and_both_are_told_in_the_history(as_nele, twice):
    """Nothing is lost: the same entity as before, with its fact and its name."""
    before = await entity(as_nele, "Flo")
    await merge(as_nele, "Florian", "Flo")
    off = (await split(as_nele, "Florian", "Flo")).json()
    assert before == off
    florian = await entity(as_nele, "Florian")
    assert 1 == florian["blocks"]
    [past] = florian["merges"]
    assert past["name"] == "Flo"
    assert past["merged_at"] < past["split_at"]
    assert {"Flo", "Florian"} == await subjects(as_nele)
    history = (await as_nele.get(f"/v1/blocks/{twice[0].id}/history?install=nele")).json()["history"]
    assert ["merged", "split"] == [change["change"] for change in history[0]["changes"]]


async def test_two_people_of_one_name_are_taken_apart_by_their_blocks(as_nele, nele):
    """What the pipeline joined wrongly was never merged by hand: the person says which facts are the other's."""
    await nele.tell("Theo", "works_on", "valves")
    his = await nele.tell("Theo", "uses", "Emacs", names=[("Emacs", EntityType.TECHNOLOGY)])
    off = (await split(as_nele, "Theo", "Theo Marsh", blocks=[str(his.id)])).json()
    assert ("Theo Marsh", 1) == (off["name"], off["blocks"])
    assert {"Theo Marsh"} == await subjects(as_nele)
    assert 1 == (await entity(as_nele, "Theo"))["blocks"]
    await merge(as_nele, "Theo", "Theo Marsh")
    assert 2 == (await entity(as_nele, "Theo"))["blocks"]


async def test_no_merge_closes_a_circle(as_nele, twice):
    await merge(as_nele, "Florian", "Flo")
    again = await merge(as_nele, "Flo", "Florian")
    assert (409, "conflict") == (again.status_code, again.json()["error"]["code"])


async def test_no_chain_of_merges_closes_a_circle(as_nele, nele, twice):
    """Whichever way round it is asked: nothing leads to itself, and a name still leads to one entity."""
    await nele.tell("Mr Amsel", "owns", "the shop")
    await merge(as_nele, "Florian", "Flo")
    await merge(as_nele, "Mr Amsel", "Florian")
    for keep, other in (("Flo", "Mr Amsel"), ("Florian", "Mr Amsel"), ("Mr Amsel", "Flo")):
        assert 409 == (await merge(as_nele, keep, other)).status_code
    assert {"Mr Amsel"} == {(await entity(as_nele, name))["name"] for name in ("Flo", "Florian", "Mr Amsel")}


async def test_what_is_forgotten_leaves_no_edge_to_follow(as_nele, nele, twice):
    """Neither to the one whom the fact was about, nor to what only it had named."""
    short, _ = twice
    await nele.forget(short.id)
    assert {"Florian"} == await subjects(as_nele)
    for gone in ("Flo", "Emacs"):
        for address, asked in (("/v1/entities", "name"), ("/v1/graph", "entity")):
            assert 404 == (await as_nele.get(address, params={"install": "nele", asked: gone})).status_code


async def test_a_merge_of_which_a_part_was_forgotten_is_taken_apart_all_the_same(as_nele, nele, twice):
    short, long = twice
    await merge(as_nele, "Florian", "Flo")
    await nele.forget(short.id)
    off = (await split(as_nele, "Florian", "Flo")).json()
    assert ("Flo", 0) == (off["name"], off["blocks"])
    assert {"Florian"} == await subjects(as_nele)
    await nele.forget(long.id)
    assert set() == await subjects(as_nele)


async def test_a_merge_of_merges_is_taken_apart_in_turn(as_nele, nele, twice):
    await nele.tell("Mr Amsel", "owns", "the shop")
    before = await entity(as_nele, "Florian")
    await merge(as_nele, "Florian", "Flo")
    await merge(as_nele, "Mr Amsel", "Florian")
    assert 3 == (await entity(as_nele, "Flo"))["blocks"]
    await split(as_nele, "Mr Amsel", "Florian")
    await split(as_nele, "Florian", "Flo")
    assert 1 == (await entity(as_nele, "Mr Amsel"))["blocks"]
    assert before["id"] == (await entity(as_nele, "Florian"))["id"]
    assert 1 == (await entity(as_nele, "Florian"))["blocks"]


@pytest.mark.parametrize(
    ("keep", "other", "status"),
    [("Florian", "nobody", 404), ("Emacs", "shop", 409), ("Florian", "", 422), ("x" * 10_000, "Flo", 422)],
)
async def test_what_can_not_be_one_is_refused_and_nothing_changes(as_nele, twice, nele, keep, other, status):
    before = await entity(as_nele, "Florian")
    assert status == (await merge(as_nele, keep, other)).status_code
    assert before == await entity(as_nele, "Florian")


async def test_a_split_without_a_merge_or_blocks_is_refused(as_nele, twice):
    assert 409 == (await split(as_nele, "Florian", "Theo")).status_code
    stranger = UUID(int=1)
    assert 409 == (await split(as_nele, "Florian", "Theo", blocks=[str(stranger)])).status_code


async def test_a_name_with_two_bearers_asks_for_more(as_nele, nele):
    """Mercury the host and Mercury the person: neither is taken by chance."""
    await nele.tell("x", "runs_on", "mercury", names=[("mercury", EntityType.HOST)])
    await nele.tell("y", "is_maintained_by", "Mercury", names=[("Mercury", EntityType.PERSON)])
    answer = await as_nele.get("/v1/entities", params={"install": "nele", "name": "mercury"})
    assert answer.status_code == 409
    assert "person" in answer.json()["error"]["message"]
    answer = await as_nele.get("/v1/entities", params={"install": "nele", "name": "mercury", "type": "host"})
    assert answer.json()["type"] == "host"


async def test_the_graph_ends_after_so_many_steps(as_nele, nele):
    for one, other in (("a1", "b1"), ("b1", "c1"), ("c1", "d1"), ("d1", "e1")):
        await nele.tell(one, "uses", other, names=[(other, EntityType.TOPIC)])
    for hops, found in ((1, 1), (2, 2), (3, 3)):
        edges = (await as_nele.get(f"/v1/graph?install=nele&entity=a1&hops={hops}")).json()["edges"]
        assert found == len(edges)
    assert 422 == (await as_nele.get("/v1/graph?install=nele&entity=a1&hops=4")).status_code
