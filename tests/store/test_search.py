"""What recall reads: each channel within its wall, complete, and true to the moment that is asked about."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np
import pytest

from nextlevel.errors import NotFound
from nextlevel.inference import open_embedder
from nextlevel.lang.tokens import words
from nextlevel.model import BlockStatus, BlockType, EntityType
from nextlevel.settings import Settings
from nextlevel.store import search
from nextlevel.store.pool import Database
from nextlevel.store.search import Cursor
from tests.support.memory import JUNE, Memory, person

FLO = ("Flo", EntityType.PERSON)
CRM = ("waldseilgarten-crm", EntityType.PROJECT)


@pytest.fixture(scope="module")
async def embedder():
    opened = open_embedder(Settings())
    yield opened
    await opened.close()


@pytest.fixture
async def db(database) -> AsyncIterator[Database]:
    opened = await Database.connect(database.dsn)
    yield opened
    await opened.close()


@pytest.fixture
async def nele(db, embedder) -> Memory:
    return await person(db, "nele", user="nele", embedder=embedder)


async def by_words(memory: Memory, text: str, **more) -> list:
    async with memory.db.memory(memory.scope) as conn:
        return await search.by_words(
            conn, memory.scope, words(text), as_of=more.get("as_of"), limit=more.get("limit", 10)
        )


async def by_vector(memory: Memory, text: str, **more) -> search.Nearest:
    vector = await memory.embedder.query(text)
    async with memory.db.memory(memory.scope) as conn:
        return await search.by_vector(
            conn, memory.scope, vector, memory.embedder.model, as_of=more.get("as_of"), limit=more.get("limit", 10)
        )


async def near(memory: Memory, name: str, **more) -> list:
    async with memory.db.memory(memory.scope) as conn:
        seeds = [entity for _, entity in await search.named(conn, memory.scope, [name])]
        return await search.near(conn, memory.scope, seeds, as_of=more.get("as_of"), limit=more.get("limit", 10))


async def everything(memory: Memory) -> set:
    """All block ids that any reading function gives."""
    async with memory.db.memory(memory.scope) as conn:
        heads = await search.heads(conn, memory.scope, "m")
        page = await search.page(conn, memory.scope, limit=200)
        graph = await search.graph(conn, memory.scope, limit=200)
    found = {head.id for head in heads} | {block.id for block in page} | {edge["block_id"] for edge in graph}
    found |= set(await by_words(memory, "port works crm secret"))
    found |= {id for id, _ in (await by_vector(memory, "which port?")).found}
    return (
        found | {id for id, _ in await near(memory, "flo")} | {id for id, _ in await near(memory, "waldseilgarten-crm")}
    )


async def test_no_channel_gives_what_is_another_persons(db, nele, embedder):
    """The wall is what a shared service stands on: it holds for each way to read, not only the usual one."""
    ours = await nele.tell("waldseilgarten-crm", "runs_on_port", "8080", names=[FLO])
    stranger = await person(db, "kim", user="kim", tenant="elsewhere", embedder=embedder)
    neighbour = await person(db, "tom", user="tom", embedder=embedder)
    for other in (stranger, neighbour):
        await other.tell("waldseilgarten-crm", "has_secret_port", "9999", names=[FLO])
    assert await everything(nele) == {ours.id}
    assert ours.id not in await everything(stranger) | await everything(neighbour)


async def test_a_foreign_id_is_not_there(db, nele, embedder):
    """Ids leak, in logs and links: knowing one must open nothing."""
    other = await person(db, "kim", user="kim", embedder=embedder)
    theirs = await other.tell("kim", "has_secret", "moonlight")
    async with db.memory(nele.scope) as conn:
        assert await search.bodies(conn, nele.scope, [theirs.id], embedder.model) == []
        with pytest.raises(NotFound):
            await search.history(conn, nele.scope, theirs.id)


async def test_a_profile_sees_its_own_and_what_the_person_shares(db, nele, embedder):
    """A preference goes with the person from agent to agent; a project's state stays where it was told."""
    work = await person(db, "nele", user="nele", profile="work", embedder=embedder)
    private = await nele.tell("garden", "has_state", "watered")
    shared = await nele.tell("user", "prefers", "compact tables", shared=True, type=BlockType.USER_PREFERENCE)
    assert await everything(work) == {shared.id}
    assert await everything(nele) == {private.id, shared.id}


async def test_words_are_found_by_any_of_them_and_rare_ones_count_more(nele):
    """ANDing the words of a question finds nothing for 84 % of questions."""
    common = [await nele.tell("crm", "uses", tool) for tool in ("nestjs", "react", "prisma")]
    rare = await nele.tell("pegelwacht", "uses", "fastapi")
    found = await by_words(nele, "does the crm or something else use fastapi perhaps")
    assert found[0] == rare.id
    assert set(found) == {rare.id, *(block.id for block in common)}


@pytest.mark.parametrize("text", ["a & b | !c <-> d:*", "'); DROP TABLE blocks; --", "\\ ' \" :A", "%_*", "x" * 300])
async def test_no_query_is_taken_for_an_operator(nele, text):
    """Words go into a tsquery: what a person types must never be syntax."""
    block = await nele.tell("crm", "runs_on_port", "8080")
    assert await by_words(nele, f"{text} port") == [block.id]


async def test_as_many_vectors_come_back_as_were_asked_for(db, nele, embedder):
    """Filtered after an approximate index, fresh tables lose rows: a scope of few in a table of many must give all."""
    other = await person(db, "kim", user="kim", embedder=embedder)
    # One after the other: all would wait for one lock, and on a busy machine longer than the pool is patient.
    for n in range(30):
        await other.tell("kim", "has_note", f"number {n} of the crm port")
    ours = {(await nele.tell("crm", "has_note", f"number {n}")).id for n in range(12)}
    nearest = await by_vector(nele, "crm port", limit=12)
    assert {id for id, _ in nearest.found} == ours
    assert nearest.blocks == 12
    cosines = [cosine for _, cosine in nearest.found]
    assert cosines == sorted(cosines, reverse=True)
    assert nearest.mean == pytest.approx(np.mean(cosines), abs=1e-3)


async def test_a_vector_of_another_model_is_not_compared(nele, embedder):
    """Cosines across models mean nothing."""
    await nele.tell("crm", "runs_on_port", "8080")
    vector = await embedder.query("port")
    async with nele.db.memory(nele.scope) as conn:
        nearest = await search.by_vector(conn, nele.scope, vector, "another-model", as_of=None, limit=5)
    assert nearest.found == []


async def test_what_was_replaced_is_found_only_as_of_its_time(nele):
    """A superseded fact in an answer is a wrong answer, unless the past was asked for."""
    old = await nele.tell("crm", "runs_on_port", "8080", since=JUNE, names=[CRM])
    new = await nele.tell("crm", "runs_on_port", "8091", since=JUNE + timedelta(days=3), replaces=old, names=[CRM])
    for channel in (by_words, by_vector, near):
        question = "crm" if channel is near else "crm port"
        found = {
            moment: await channel(nele, question, as_of=None if moment is None else JUNE + timedelta(days=moment))
            for moment in (None, 1, 5, -1)
        }
        ids = {m: {x if not isinstance(x, tuple) else x[0] for x in getattr(f, "found", f)} for m, f in found.items()}
        assert ids == {None: {new.id}, 1: {old.id}, 5: {new.id}, -1: set()}, channel.__name__


async def test_what_is_in_review_or_outlived_is_not_recalled(nele):
    """Review means that nobody vouched for it yet; a TTL that nothing enforces is decoration."""
    await nele.tell("crm", "has_review_port", "1", status=BlockStatus.REVIEW)
    await nele.tell("crm", "has_outlived_port", "2", ttl_days=0)
    await nele.tell("crm", "has_past_port", "3", until=JUNE + timedelta(days=1))
    current = await nele.tell("crm", "has_port", "4")
    assert await by_words(nele, "crm port") == [current.id]
    assert [id for id, _ in (await by_vector(nele, "crm port")).found] == [current.id]


async def test_the_graph_leads_two_steps_and_no_further(nele):
    """Flo → crm → its host: an answer seldom lies in one fact alone; but at three steps all is related to all."""
    works = await nele.tell("Flo", "works_on", "waldseilgarten-crm", names=[CRM])
    port = await nele.tell("waldseilgarten-crm", "runs_on", "birke-02", names=[("birke-02", EntityType.HOST)])
    await nele.tell("birke-02", "stands_in", "Freiburg", names=[("Freiburg", EntityType.PLACE)])
    await nele.tell("Freiburg", "lies_in", "Baden", names=[("Baden", EntityType.PLACE)])
    assert await near(nele, "flo") == [(works.id, 1), (port.id, 2)]


async def test_pages_give_every_block_once(nele):
    """Offsets skip and repeat rows when something is written between two pages; a cursor does not."""
    told = [(await nele.tell("crm", "has_note", str(n))).id for n in range(7)]
    seen: list = []
    after = None
    while True:
        async with nele.db.memory(nele.scope) as conn:
            page = await search.page(conn, nele.scope, after=after, limit=3)
        if not page:
            break
        seen += [block.id for block in page]
        after = Cursor(page[-1].created_at, page[-1].id)
        await nele.tell("crm", "has_later_note", "written between two pages")
    assert seen == told[::-1]


async def test_a_page_can_be_filtered(nele):
    """Each filter on its own, so that none is silently ignored."""
    port = await nele.tell("crm", "runs_on_port", "8080", names=[FLO])
    taste = await nele.tell("user", "prefers", "tables", type=BlockType.USER_PREFERENCE, since=JUNE + timedelta(days=9))
    review = await nele.tell("crm", "might_use", "bun", status=BlockStatus.REVIEW, since=JUNE + timedelta(days=9))
    async with nele.db.memory(nele.scope) as conn:
        [(_, flo)] = await search.named(conn, nele.scope, ["flo"])
        filters = {
            "type": [b.id for b in await search.page(conn, nele.scope, type=BlockType.USER_PREFERENCE, limit=9)],
            "status": [b.id for b in await search.page(conn, nele.scope, statuses=[BlockStatus.REVIEW], limit=9)],
            "entity": [b.id for b in await search.page(conn, nele.scope, entity=flo, limit=9)],
            "valid_at": [b.id for b in await search.page(conn, nele.scope, valid_at=JUNE, limit=9)],
        }
    assert filters == {"type": [taste.id], "status": [review.id], "entity": [port.id], "valid_at": [port.id]}


async def test_a_facts_history_runs_from_its_first_form_to_its_last(nele):
    """Who replaced whom, and when, is what makes memory worth trusting; it is the same from whichever end one looks."""
    first = await nele.tell("crm", "runs_on_port", "8080")
    second = await nele.tell("crm", "runs_on_port", "8091", since=JUNE + timedelta(days=3), replaces=first)
    third = await nele.tell("crm", "runs_on_port", "8099", since=JUNE + timedelta(days=9), replaces=second)
    for start in (first, second, third):
        async with nele.db.memory(nele.scope) as conn:
            line = await search.history(conn, nele.scope, start.id)
        assert [each["block"].object for each in line] == ["8080", "8091", "8099"]
        assert [[change["change"] for change in each["changes"]] for each in line] == [
            ["superseded"],
            ["superseded"],
            [],
        ]


async def test_the_graph_around_an_entity_leaves_the_rest_out(nele):
    """A person looks at a part; the whole graph of a year fits on no screen."""
    works = await nele.tell("Flo", "works_on", "waldseilgarten-crm", names=[CRM])
    await nele.tell("Henrike", "maintains", "birke-02", names=[("birke-02", EntityType.HOST)])
    async with nele.db.memory(nele.scope) as conn:
        [(_, flo)] = await search.named(conn, nele.scope, ["flo"])
        around = await search.graph(conn, nele.scope, around=flo, limit=10)
        whole = await search.graph(conn, nele.scope, limit=10)
    assert [edge["block_id"] for edge in around] == [works.id]
    assert (around[0]["subject"], around[0]["predicate"], around[0]["object"]) == (
        "Flo",
        "works_on",
        "waldseilgarten-crm",
    )
    assert len(whole) == 2


async def test_a_hub_is_not_walked_whole(nele, monkeypatch):
    """Behind a project stands half of a memory: a walk is bounded by what it reaches, besides its steps and edges."""
    for number in range(6):
        await nele.tell("crm", "uses", f"tool {number}", names=[(f"tool {number}", EntityType.TECHNOLOGY)])
        await nele.tell(f"tool {number}", "needs", f"part {number}", names=[(f"part {number}", EntityType.TOPIC)])
    monkeypatch.setattr(search, "MOST_NODES", 4)
    async with nele.db.memory(nele.scope) as conn:
        [(_, crm)] = await search.named(conn, nele.scope, ["crm"])
        edges = await search.graph(conn, nele.scope, around=crm, hops=3, limit=100)
    assert 0 < len({edge[end] for edge in edges for end in ("subject_id", "object_id")}) <= 4


async def test_an_edge_goes_with_the_validity_of_its_block(nele):
    """What was replaced relates nothing any more; what replaced it does."""
    flo, kim = ("Flo", EntityType.PERSON), ("Kim", EntityType.PERSON)
    old = await nele.tell("crm", "is_kept_by", "Flo", names=[flo])
    await nele.tell("crm", "is_kept_by", "Kim", names=[kim], replaces=old, since=JUNE + timedelta(days=1))
    async with nele.db.memory(nele.scope) as conn:
        assert ["Kim"] == [edge["object"] for edge in await search.graph(conn, nele.scope, limit=9)]


async def test_every_channel_agrees_on_what_holds(nele):
    """Words look at each block they find, vectors leave out what an index says does not hold: two ways, one answer."""
    ends = (None, JUNE + timedelta(days=2), datetime.now(UTC) + timedelta(days=300))
    for number, (status, since, until, ttl_days) in enumerate(
        product(BlockStatus, (JUNE, JUNE + timedelta(days=1), ends[2] - timedelta(days=1)), ends, (0, 3650))
    ):
        if status is BlockStatus.FORGOTTEN or (until is None and status is BlockStatus.SUPERSEDED):
            continue  # no such block is stored
        if until is not None and until < since:
            continue
        await nele.tell("crm", "has_note", f"note {number}", status=status, since=since, until=until, ttl_days=ttl_days)
    for moment in (None, *(JUNE + timedelta(days=days) for days in (-1, 0, 1, 2, 3)), datetime.now(UTC), ends[2]):
        by_text = await by_words(nele, "crm note", as_of=moment, limit=200)
        nearest = await by_vector(nele, "crm note", as_of=moment, limit=200)
        assert {id for id, _ in nearest.found} == set(by_text)
        assert nearest.blocks == len(by_text)
