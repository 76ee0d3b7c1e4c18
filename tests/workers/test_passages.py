"""Past turns made findable: behind the pipeline, once each, and gone with what was forgotten."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nextlevel.inference import open_embedder
from nextlevel.settings import Settings
from nextlevel.store import passages
from nextlevel.store.forget import forget_blocks
from nextlevel.workers.passages import embed_passages, index_turns
from tests.support.builders import event

FACT = event("waldseilgarten-crm runs on port 8080.", seq=1)
CHAT = event("It rained all day at the lake.", seq=2)


@pytest.fixture(scope="module")
async def embedder():
    opened = open_embedder(Settings())
    yield opened
    await opened.close()


async def indexed(bench) -> set[str]:
    found = await bench.rows("SELECT turn_id FROM passages JOIN passage_words USING (tenant_id, turn_id)")
    return {row["turn_id"] for row in found}


async def test_a_turn_is_found_by_its_words_though_nothing_was_learnt_from_it(bench):
    """Most of what was said is no fact, and people ask for it all the same."""
    await bench.remember(CHAT)
    assert 1 == await index_turns(bench.ctx)
    assert 0 == await index_turns(bench.ctx)
    scope = await bench.scope()
    async with bench.ctx.db.memory(scope) as conn:
        [found] = await passages.by_words(conn, scope, {"rain": 1.0, "lake": 1.0}, as_of=None, limit=5)
        [said] = (await passages.said(conn, scope, [found])).values()
    assert CHAT.user_text == said.said
    assert 0 == len(await bench.facts())


async def test_what_is_told_twice_has_one_passage(bench):
    """A turn that a reinstalled home tells again must not be quoted twice."""
    again = event(CHAT.user_text, install="other", seq=9, fp=CHAT.fp)
    await bench.remember(CHAT, again)
    await index_turns(bench.ctx)
    assert {"home:2"} == await indexed(bench)


async def test_the_passages_of_what_was_forgotten_are_gone_with_it(bench):
    """Forgotten as a fact and still quoted as a turn would be no forgetting."""
    await bench.remember(FACT, CHAT)
    await index_turns(bench.ctx)
    scope = await bench.scope()
    [block] = await bench.rows("SELECT block_id FROM blocks")
    async with bench.ctx.db.memory(scope) as conn:
        gone = await forget_blocks(conn, scope, [block["block_id"]])
    assert {"home:2"} == await indexed(bench)
    assert scope.profile_scope in gone.generations
    assert 0 == await index_turns(bench.ctx), "and it does not come back"


async def test_a_preference_forgotten_in_another_profile_takes_its_passage_along(bench):
    """A preference is the person's under every profile, the turn that told it is one profile's."""
    await bench.remember(replace(event("I prefer tabs over spaces.", seq=3), profile="work"))
    await index_turns(bench.ctx)
    here = await bench.scope(profile="home")
    [block] = await bench.rows("SELECT block_id FROM blocks")
    async with bench.ctx.db.memory(here) as conn:
        gone = await forget_blocks(conn, here, [block["block_id"]])
    assert set() == await indexed(bench)
    assert (await bench.scope(profile="work")).profile_scope in gone.generations


async def test_an_undone_turn_has_no_passage_whether_it_was_indexed_or_not(bench):
    await bench.remember(CHAT, event("And it snowed.", seq=3))
    await index_turns(bench.ctx)
    undo = event("", seq=4, kind="retract", assistant_text="", body={"turns": ["home:2", "home:5"]})
    await bench.remember(undo)
    await bench.remember(event("It hailed too.", seq=5))
    await index_turns(bench.ctx)
    assert {"home:3"} == await indexed(bench)


async def test_vectors_come_when_no_block_waits_for_its_own(bench, embedder):
    """A fact is worth more than a quote, and the embedder does one text at a time."""
    await bench.remember(FACT, CHAT)
    await index_turns(bench.ctx)
    bench.ctx.embedder = embedder
    assert 0 == await embed_passages(bench.ctx), "the block first"
    await bench.rows(
        "INSERT INTO embeddings SELECT tenant_id, scope_id, block_id, $1, '[1,0]' FROM blocks", embedder.model
    )
    assert 2 == await embed_passages(bench.ctx)
    assert 0 == await embed_passages(bench.ctx)
    scope = await bench.scope()
    async with bench.ctx.db.memory(scope) as conn:
        nearest = await passages.by_vector(
            conn, scope, await embedder.query("How was the weather?"), embedder.model, as_of=datetime.now(UTC), limit=2
        )
    assert "home:2" == nearest.found[0][0]


async def test_nobody_reads_anothers_past_turns(bench):
    """The functions that search words run with their owner's rights: the wall must hold inside them."""
    await bench.remember(CHAT)
    await index_turns(bench.ctx)
    stranger = await bench.scope(principal="telegram:666")
    async with bench.ctx.db.memory(stranger) as conn:
        assert [] == await passages.by_words(conn, stranger, {"rain": 1.0}, as_of=None, limit=5)
        assert {} == await passages.count_words(conn, ["rain"])
        assert [] == await passages.read(conn, stranger, ["home:2"], "m")
        assert {} == await passages.said(conn, stranger, ["home:2"])
        assert {} == await passages.forget(conn, ["home:2"])
    assert {"home:2"} == await indexed(bench)
