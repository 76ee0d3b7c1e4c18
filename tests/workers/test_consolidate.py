"""What storing left side by side becomes one later, by the same rules, and can be taken apart again."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nextlevel.model import BlockStatus
from nextlevel.store import blocks, merges, search
from nextlevel.workers.consolidate import consolidate
from tests.support.builders import event
from tests.support.memory import JUNE, Memory

LATER = JUNE + timedelta(days=3)


@pytest.fixture
async def memory(bench) -> Memory:
    """A scope in which a turn has just ended; what is told here is written as it is, compared with nothing."""
    await bench.remember(event("Thanks, that is all.", seq=1))
    return Memory(bench.ctx.db, await bench.scope(), "home")


async def test_the_same_told_in_other_words_is_one_fact_from_its_first_telling(bench, memory):
    first = await memory.tell("crm", "runs_on_port", "8080", confidence=0.7)
    again = await memory.tell("crm", "runs_on_port", "port 8080", since=LATER, confidence=0.9)
    assert 1 == await consolidate(bench.ctx)
    assert 0 == await consolidate(bench.ctx)
    rows = await bench.rows("SELECT block_id, status, superseded_by, confidence::numeric(3, 2)::text FROM blocks")
    found = {row["block_id"]: tuple(row)[1:] for row in rows}
    assert ("active", None, "0.90") == found[first.id]
    assert ("superseded", first.id, "0.90") == found[again.id]


async def test_a_merge_has_its_history_and_is_undone_like_any_other(bench, memory):
    first = await memory.tell("crm", "runs_on_port", "8080")
    again = await memory.tell("crm", "runs_on_port", "port 8080", since=LATER)
    await consolidate(bench.ctx)
    async with bench.ctx.db.memory(memory.scope) as conn:
        line = await search.history(conn, memory.scope, first.id)
        assert [["confirmed"], ["superseded"]] == [[each["change"] for each in past["changes"]] for past in line]
        await blocks.restore_replaced(conn, memory.scope, first.id, caused_by="test")
    rows = await bench.rows("SELECT block_id, status, valid_to FROM blocks")
    assert {(first.id, "active", None), (again.id, "active", None)} == {tuple(row) for row in rows}


async def test_forgotten_after_a_merge_a_fact_hides_every_turn_that_told_it(bench, memory):
    """Else the second telling would be quoted from the past turn, of what the person had forgotten."""
    said = [await memory.say(f"The crm runs on {what}.", turn=n) for n, what in enumerate(("8080", "port 8080"), 2)]
    first = await memory.tell("crm", "runs_on_port", "8080", source=said[0])
    await memory.tell("crm", "runs_on_port", "port 8080", since=LATER, source=said[1])
    assert 1 == await consolidate(bench.ctx)
    await memory.forget(first.id)
    hidden = await bench.rows("SELECT id FROM turns WHERE hidden")
    assert set(said) == {row["id"] for row in hidden}


async def test_what_is_told_late_of_the_time_between_two_tellings_still_finds_its_place(bench, memory):
    """8080, then 8091, then 8080 again: that the two tellings of 8080 had become one must not hide the change back."""
    said = [await memory.say("Good, thanks.", turn=n, at=at) for n, at in ((2, JUNE), (3, LATER))]
    first = await memory.tell("crm", "runs_on_port", "8080", source=said[0])
    again = await memory.tell("crm", "runs_on_port", "port 8080", since=LATER, source=said[1])
    assert 1 == await consolidate(bench.ctx)
    between = event("Remember: crm runs on port 8091.", seq=4, turn=4)
    await bench.remember(replace(between, at=(JUNE + timedelta(days=1)).isoformat()))
    rows = await bench.rows("SELECT object, status FROM blocks ORDER BY valid_from")
    assert [("8080", "superseded"), ("8091", "superseded"), ("port 8080", "active")] == [tuple(row) for row in rows]
    changes = await bench.rows("SELECT change FROM block_versions WHERE block_id = $1 ORDER BY version", again.id)
    assert ["superseded", "restored"] == [row["change"] for row in changes]
    assert [] == await bench.rows("SELECT FROM blocks WHERE superseded_by = $1", first.id)


async def test_the_more_exact_of_two_is_kept(bench, memory):
    await memory.tell("crm", "uses", "Postgres")
    exact = await memory.tell("crm", "uses", "Postgres 16", since=LATER)
    assert 1 == await consolidate(bench.ctx)
    [active] = await bench.rows("SELECT block_id FROM blocks WHERE status = 'active'")
    assert exact.id == active["block_id"]


async def test_what_differs_replaces_waits_or_is_another_projects_stays(bench, memory):
    """Merging two facts that are not one loses one: in doubt both stand."""
    await memory.tell("crm", "runs_on_port", "8080")
    await memory.tell("crm", "runs_on_port", "8091", since=LATER)
    await memory.tell("tests", "runs_with", "-n 4", project="crm")
    await memory.tell("tests", "runs_with", "-n 4", project="pegelwacht")
    await memory.tell("crm", "runs_on_port", "port 8080", status=BlockStatus.REVIEW)
    assert 0 == await consolidate(bench.ctx)


async def test_what_a_merge_of_entities_moved_can_still_be_split(bench, memory):
    """Taken apart again, each of the two must have its fact."""
    for name in ("harbour", "quayside"):
        await memory.tell(name, "runs_on_port", "8080")
    async with bench.ctx.db.memory(memory.scope) as conn:
        await blocks.lock(conn, memory.scope)
        ids = dict(await search.named(conn, memory.scope, ["harbour", "quayside"]))
        await merges.merge(conn, memory.scope, ids["harbour"], ids["quayside"])
    assert 0 == await consolidate(bench.ctx)


async def test_each_change_is_compared_once_and_in_batches_none_is_left_out(bench, memory, monkeypatch):
    """An import of a year in an hour: the run of a minute takes what it can, the next ones the rest."""
    monkeypatch.setattr("nextlevel.workers.consolidate.BLOCKS_AT_ONCE", 1)
    for name in ("crm", "shop", "pegelwacht"):
        await memory.tell(name, "runs_on_port", "8080")
        await memory.tell(name, "runs_on_port", "port 8080", since=LATER)
    monkeypatch.setattr("nextlevel.workers.consolidate.LONGEST_RUN_S", 0.0)
    assert 0 == await consolidate(bench.ctx)
    monkeypatch.setattr("nextlevel.workers.consolidate.LONGEST_RUN_S", 60.0)
    assert 3 == await consolidate(bench.ctx)
    assert [] == await bench.rows("SELECT FROM scopes_to_compare(9)"), "nor is what a merge itself changed left open"


async def test_no_lock_is_held_while_blocks_are_compared(bench, memory, monkeypatch):
    """In a scope of 100,000 blocks a comparison takes a tenth of a second; a turn must not wait for it."""
    await memory.tell("crm", "runs_on_port", "8080")
    await memory.tell("crm", "runs_on_port", "port 8080", since=LATER)
    held = []

    async def looking(work, *args):
        held.append(await bench.rows("SELECT FROM pg_locks WHERE locktype = 'advisory' AND database = "
                                     "(SELECT oid FROM pg_database WHERE datname = current_database())"))  # fmt: skip
        return work(*args)

    monkeypatch.setattr("nextlevel.workers.consolidate.asyncio.to_thread", looking)
    assert 1 == await consolidate(bench.ctx)
    assert held
    assert not any(held)
