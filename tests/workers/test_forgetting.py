"""Forgetting and taking back: what is gone is gone everywhere, and no turn in flight brings it back."""

from dataclasses import replace
from datetime import UTC, datetime

from nextlevel.store.forget import forget_blocks
from tests.support.builders import event

FACT = event("waldseilgarten-crm runs on port 8080.", seq=1)


async def forget_all(bench):
    scope = await bench.scope()
    ids = [row["block_id"] for row in await bench.rows("SELECT block_id FROM blocks")]
    async with bench.ctx.db.memory(scope) as conn:
        return await forget_blocks(conn, scope, ids)


async def test_forgetting_leaves_nothing_that_was_derived(bench):
    await bench.remember(FACT, event("waldseilgarten-crm runs on port 8091 now.", seq=2))
    gone = await forget_all(bench)
    assert 2 == len(gone.blocks)
    for table in ("blocks", "block_sources", "block_versions", "edges", "mentions", "embeddings", "block_words",
                  "word_counts", "entities", "entity_aliases"):  # fmt: skip
        assert [] == await bench.rows(f"SELECT FROM {table}"), table
    extractions = await bench.rows("SELECT raw::text, linked::text FROM extractions")
    assert not any("8080" in f"{row['raw']}{row['linked']}" for row in extractions)
    traces = await bench.rows("SELECT step, facts::text FROM trace_events")
    assert {"ingest", "extract", "link", "store"} == {row["step"] for row in traces}
    assert not any("8080" in row["facts"] for row in traces)


async def test_a_turn_in_flight_does_not_bring_a_forgotten_fact_back(bench):
    """It was said before the person asked to forget it."""
    await bench.remember(FACT)
    await bench.tell(replace(event("waldseilgarten-crm runs on port 8080.", seq=2), session="s2"))
    await forget_all(bench)
    await bench.drain()
    assert set() == await bench.facts()


async def test_a_forgotten_fact_told_again_afterwards_is_news(bench):
    await bench.remember(FACT)
    await forget_all(bench)
    later = datetime.now(UTC).isoformat()
    await bench.remember(replace(event("waldseilgarten-crm runs on port 8080.", seq=2), at=later))
    assert 1 == len(await bench.facts())


async def test_another_persons_memory_cannot_be_forgotten_by_id(bench):
    """A foreign id is as good as none."""
    await bench.remember(FACT)
    [block] = await bench.rows("SELECT block_id FROM blocks")
    stranger = await bench.scope(principal="telegram:666")
    async with bench.ctx.db.memory(stranger) as conn:
        gone = await forget_blocks(conn, stranger, [block["block_id"]])
    assert () == gone.blocks
    assert 1 == len(await bench.facts())


async def test_the_receipt_tells_tier_2_which_turns_to_hide(bench):
    await bench.remember(FACT)
    forget = event("", seq=2, kind="forget", assistant_text="", body={"text": "port 8080"})
    await bench.remember(forget)
    assert {"home:1": "stored", "home:2": "stored"} == await bench.states()
    assert b'"hidden":[1]' in await bench.ctx.redis.get("nl:ack:home")
    assert set() == await bench.facts()


async def test_a_forget_that_fits_several_forgets_none_and_says_so(bench):
    await bench.remember(FACT, event("larkfield-shop runs on port 8081.", seq=2))
    await bench.remember(event("", seq=3, kind="forget", assistant_text="", body={"text": "port"}))
    [turn] = await bench.rows("SELECT state, reason FROM turns WHERE seq = 3")
    assert "skipped" == turn["state"]
    assert "fits 2 memories" in turn["reason"]
    assert 2 == len(await bench.facts())


async def test_an_undone_turn_is_erased_and_what_stood_on_it_alone_is_gone(bench):
    """The host's /undo: its words go, its number stays."""
    again = replace(event("waldseilgarten-crm runs on port 8080.", seq=2), session="s2")
    other = event("waldseilgarten-crm uses NestJS.", seq=3)
    await bench.remember(FACT, again, other)
    await bench.remember(event("", seq=4, kind="retract", assistant_text="", body={"turns": ["home:1", "home:3"]}))
    assert {"home:1": "erased", "home:2": "stored", "home:3": "erased", "home:4": "stored"} == await bench.states()
    assert {"runs_on_port"} == {predicate for _, predicate, _ in await bench.facts()}, "home:2 said it too"
    assert [] == await bench.rows("SELECT FROM turns WHERE state = 'erased' AND user_text <> ''")


def undo(seq: int, *turns: str):
    return event("", seq=seq, kind="retract", assistant_text="", body={"turns": list(turns)})


async def test_what_an_undone_turn_had_replaced_holds_again(bench):
    """An undo that left neither the old port nor the new one would have made us forget."""
    await bench.remember(FACT, event("waldseilgarten-crm runs on port 8091 now.", seq=2))
    await bench.remember(undo(3, "home:2"))
    [block] = await bench.rows("SELECT object, status, valid_to, superseded_by FROM blocks")
    assert "8080" in block["object"]
    assert ("active", None, None) == (block["status"], block["valid_to"], block["superseded_by"])
    changes = [row["change"] for row in await bench.rows("SELECT change FROM block_versions ORDER BY version")]
    assert ["superseded", "restored"] == changes


async def test_what_an_undone_turn_had_replaced_before_it_came_holds_again(bench):
    """The older of two facts may arrive second, by an import: closed as it comes, it must not stay so for ever."""
    now = event("waldseilgarten-crm runs on port 8091.", seq=2)
    before = event("waldseilgarten-crm runs on port 8080.", seq=1, session="s0")
    await bench.remember(now)
    await bench.remember(before)
    assert ["8091"] == [object for _, _, object in await bench.facts()]
    await bench.remember(undo(3, now.id))
    assert ["8080"] == [object for _, _, object in await bench.facts()]
    [block] = await bench.rows("SELECT valid_to, superseded_by FROM blocks")
    assert (None, None) == (block["valid_to"], block["superseded_by"])


async def test_what_an_undone_turn_had_replaced_holds_until_what_came_after_it(bench):
    """Else two ports would be true at once."""
    ports = [event(f"waldseilgarten-crm runs on port {port} now.", seq=seq) for seq, port in ((2, 8091), (3, 8100))]
    await bench.remember(FACT, *ports)
    await bench.remember(undo(4, "home:2"))
    old, new = await bench.rows("SELECT object, status, valid_from, valid_to FROM blocks ORDER BY valid_from")
    assert ("superseded", new["valid_from"]) == (old["status"], old["valid_to"])
    assert ("active", None) == (new["status"], new["valid_to"])
    assert "8100" in new["object"]


async def test_a_no_longer_that_is_undone_ends_nothing(bench):
    await bench.remember(FACT)
    await bench.remember(event("waldseilgarten-crm no longer runs on port 8080.", seq=2))
    assert set() == await bench.facts()
    await bench.remember(undo(3, "home:2"))
    assert 1 == len(await bench.facts())


async def test_a_retract_that_overtakes_its_turn_still_wins(bench):
    """The tombstone is written at ingest and checked again at the store."""
    await bench.tell(event("", seq=2, session="s9", kind="retract", assistant_text="", body={"turns": ["home:1"]}))
    await bench.tell(FACT)
    await bench.drain()
    assert "erased" == (await bench.states())["home:1"]
    assert set() == await bench.facts()


async def test_a_no_longer_closes_a_fact_and_keeps_its_history(bench):
    await bench.remember(FACT)
    await bench.remember(event("waldseilgarten-crm no longer runs on port 8080.", seq=2))
    assert not any("8080" in object_ for _, _, object_ in await bench.facts("active"))


async def test_a_no_longer_closes_nothing_of_another_project(bench):
    """The folder in which it is said tells of which project."""
    crm, shop = ({"project": {"name": name}} for name in ("waldseilgarten-crm", "fernhollow-shop"))
    await bench.remember(
        event("We use Redis here.", seq=1, meta=crm),
        replace(event("We use Redis here.", seq=2, meta=shop), session="s2"),
        replace(event("We no longer use Redis.", seq=3, meta=crm), session="s3"),
    )
    facts = await bench.facts()
    assert {"fernhollow-shop"} == {subject for subject, predicate, _ in facts if predicate == "uses_database"}


async def test_what_a_person_said_of_themselves_is_taken_back_wherever_they_are(bench):
    """They don't change folders to be forgotten; but what fits is looked for here first."""
    crm, shop = ({"project": {"name": name}} for name in ("waldseilgarten-crm", "fernhollow-shop"))
    await bench.remember(
        event("I am at the dentist on Thursday until 11.", seq=1, meta=crm),
        replace(event("Forget what I said about the dentist, that's private.", seq=2, meta=shop), session="s2"),
    )
    assert set() == {object_ for _, _, object_ in await bench.facts() if "dentist" in object_}


async def test_another_persons_turn_cannot_be_taken_back(bench):
    """Its number can be guessed; whose it is cannot be changed by asking."""
    await bench.remember(FACT)
    order = event("", seq=2, kind="retract", assistant_text="", body={"turns": ["home:1"]}, principal="telegram:666")
    await bench.remember(order)
    assert {"home:1": "stored", "home:2": "stored"} == await bench.states()
    assert 1 == len(await bench.facts())


async def test_forgetting_in_one_profile_leaves_what_another_speaks_of(bench):
    """Entities are the person's, blocks a profile's: behind one profile's wall the others' blocks can't be seen."""
    await bench.remember(FACT, replace(event("birch-2 runs Caddy.", seq=2), profile="work", session="s2"))
    here = await bench.scope()
    [block] = await bench.rows("SELECT block_id FROM blocks WHERE scope_id = $1", here.profile_scope)
    async with bench.ctx.db.memory(here) as conn:
        await forget_blocks(conn, here, [block["block_id"]])
    left = {row["name"] for row in await bench.rows("SELECT name FROM entities")}
    assert "birch-2" in left
    assert "waldseilgarten-crm" not in left


async def test_what_is_imported_after_its_denial_is_not_believed_and_is_once_the_denial_is_undone(bench):
    """A history is imported on the second day: what the user took back on the first must stay so."""
    denial = replace(event("waldseilgarten-crm no longer runs on port 8080.", seq=2), session="s2")
    await bench.remember(denial)
    await bench.remember(FACT)
    assert set() == await bench.facts()
    assert 1 == len(await bench.facts("expired"))
    await bench.remember(undo(3, denial.id))
    assert 1 == len(await bench.facts())
    assert [] == await bench.rows("SELECT FROM retractions")


async def test_a_forgotten_fact_takes_the_words_of_its_denial_with_it(bench):
    await bench.remember(FACT, event("waldseilgarten-crm no longer runs on port 8080.", seq=2))
    assert 1 == len(await bench.rows("SELECT FROM retractions WHERE block_id IS NOT NULL"))
    await forget_all(bench)
    assert [] == await bench.rows("SELECT FROM retractions")
