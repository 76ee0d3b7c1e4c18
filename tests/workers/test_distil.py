"""Runs of one workflow become one procedure with their turns and its lineage, and can be had back."""

import json

import pytest

from nextlevel.model import BlockStatus, BlockType, ToolCall
from nextlevel.store.consolidation import take_apart
from nextlevel.store.forget import forget_blocks
from nextlevel.workers.consolidate import consolidate
from tests.support.builders import NOON, event
from tests.support.memory import Memory

COMMON = "git pull; make test; make dist; git tag v<version>; git push --tags"


def run(seq: int, version: str, *, session: str, project: str = "larkfield", **differently: str):
    """A turn in which the agent makes a release, with a step `before`, or without its step `less`."""
    steps = ["git pull", "make test", "make dist", f"git tag v{version}", "git push --tags"]
    steps = [differently.get("before", "git pull"), *(step for step in steps if step != differently.get("less"))]
    calls = tuple(ToolCall("terminal", json.dumps({"command": step}), "ok") for step in steps)
    meta = {"project": {"name": project}} if project else {}
    return event(f"Please make the release {version}.", seq=seq, session=session, tools=calls, meta=meta)


async def living(bench) -> list[str]:
    rows = await bench.rows("SELECT object FROM blocks WHERE type = 'procedural' AND status = 'active' ORDER BY object")
    return [row["object"] for row in rows]


@pytest.fixture
async def distilled(bench):
    await bench.remember(run(1, "2.4", session="a"), run(2, "2.5", session="b", before="git status"))
    assert 2 == await consolidate(bench.ctx)
    return bench


async def test_two_runs_become_one_procedure_that_stands_on_both(distilled):
    assert [COMMON] == await living(distilled)
    [made] = await distilled.rows("SELECT * FROM blocks WHERE status = 'active'")
    assert ("larkfield: Please make the release <version>", "inferred", False) == (
        made["subject"],
        made["provenance"],
        made["explicit"],
    )
    assert made["confidence"] <= 0.7
    sources = await distilled.rows(
        "SELECT turn_id FROM block_sources WHERE block_id = $1 ORDER BY turn_id", made["block_id"]
    )
    assert ["home:1", "home:2"] == [row["turn_id"] for row in sources]
    ended = await distilled.rows("SELECT status, superseded_by FROM blocks WHERE block_id <> $1", made["block_id"])
    assert [("superseded", made["block_id"])] * 2 == [tuple(row) for row in ended]
    versions = await distilled.rows("SELECT change, caused_by FROM block_versions")
    assert [("superseded", "distilled")] * 2 == [tuple(row) for row in versions]
    named = await distilled.rows(
        "SELECT name FROM mentions JOIN entities USING (tenant_id, entity_id) WHERE block_id = $1", made["block_id"]
    )
    assert {"larkfield", "git"} <= {row["name"] for row in named}


async def test_looking_again_changes_nothing_and_a_third_run_is_one_source_more(distilled):
    assert 0 == await consolidate(distilled.ctx)
    await distilled.remember(run(3, "2.6", session="c"))
    assert 1 == await consolidate(distilled.ctx)
    assert [COMMON] == await living(distilled)
    [made] = await distilled.rows("SELECT block_id FROM blocks WHERE status = 'active'")
    assert 3 == len(await distilled.rows("SELECT FROM block_sources WHERE block_id = $1", made["block_id"]))
    assert 0 == await consolidate(distilled.ctx)


async def test_a_run_that_is_rejected_gives_the_other_back_for_good(distilled):
    """Said minutes later, after upkeep came by: what was wrong must not live on in what was made of it."""
    await distilled.remember(event("No, that's wrong, undo that.", seq=3, session="b"))
    [left] = await living(distilled)
    assert "v2.4" in left
    await distilled.remember(run(4, "2.6", session="c"))
    assert 0 == await consolidate(distilled.ctx)
    assert 2 == len(await living(distilled))


async def test_a_turn_that_is_undone_leaves_no_word_in_what_was_made_of_it(distilled):
    await distilled.remember(event("", seq=3, session="b", kind="retract", turn=0, body={"turns": ["home:2"]}))
    [left] = await living(distilled)
    assert "v2.4" in left
    assert 1 == len(await distilled.rows("SELECT FROM blocks"))


async def test_taken_apart_both_runs_hold_again_and_are_left_alone(distilled):
    scope = await distilled.scope()
    async with distilled.ctx.db.memory(scope) as conn:
        await take_apart(conn, scope, "home:1", at=NOON)
    assert 2 == len(await living(distilled))
    assert 0 == await consolidate(distilled.ctx)
    assert 2 == len(await living(distilled))
    await distilled.remember(run(3, "2.6", session="c"), run(4, "2.7", session="d"))
    assert 2 == await consolidate(distilled.ctx), "new runs are distilled, without those"
    assert 3 == len(await living(distilled))


async def test_of_one_that_was_had_back_no_second_is_made(distilled):
    """A shorter run had taken it over, and was undone: the fact lives already."""
    await distilled.remember(run(3, "2.6", session="c", before="git status", less="make dist"))
    assert 2 == await consolidate(distilled.ctx)
    assert [COMMON.replace("make dist; ", "")] == await living(distilled)
    await distilled.remember(event("", seq=4, session="c", kind="retract", turn=0, body={"turns": ["home:3"]}))
    await distilled.remember(run(5, "2.7", session="d"), run(6, "2.8", session="e"))
    assert 0 == await consolidate(distilled.ctx)
    assert {COMMON} | {COMMON.replace("<version>", each) for each in ("2.7", "2.8")} == set(await living(distilled))


async def test_what_the_person_asked_to_have_remembered_does_not_end_in_what_nobody_asked_for(bench):
    await bench.remember(event("Thanks, that is all.", seq=1))
    memory = Memory(bench.ctx.db, await bench.scope(), "home")
    said = [await memory.say("Good.", session=session, turn=n) for n, session in enumerate("ab", 2)]
    way = {"type": BlockType.PROCEDURAL, "project": "larkfield"}
    await memory.tell("release", "done_by", "build, test, tag, push", source=said[0], explicit=True, **way)
    await memory.tell("launch", "done_by", "build; test; tag; push", source=said[1], **way)
    assert 0 == await consolidate(bench.ctx)


async def test_once_forgotten_it_is_not_made_of_runs_before_that_again(distilled):
    scope = await distilled.scope()
    [made] = await distilled.rows("SELECT block_id FROM blocks WHERE status = 'active'")
    async with distilled.ctx.db.memory(scope) as conn:
        await forget_blocks(conn, scope, [made["block_id"]])
    assert 0 == await consolidate(distilled.ctx)
    assert [] == await living(distilled)
    # Nor of others that were told before, and arrive late.
    await distilled.remember(run(3, "2.6", session="c"), run(4, "2.7", session="d"))
    assert 0 == await consolidate(distilled.ctx)


async def test_runs_of_two_projects_of_none_or_of_one_session_stay_apart(bench):
    """The same commands in another project are another project's way; one session may just have tried twice."""
    await bench.remember(run(1, "2.4", session="a"), run(2, "2.5", session="b", project="pomelo"))
    await bench.remember(run(3, "2.6", session="a"))
    await bench.remember(run(4, "2.7", session="c", project=""), run(5, "2.8", session="d", project=""))
    assert 0 == await consolidate(bench.ctx)
    assert 5 == len(await living(bench))


async def test_the_order_matters_and_what_waits_in_review_takes_no_part(bench):
    await bench.remember(event("Thanks, that is all.", seq=1))
    memory = Memory(bench.ctx.db, await bench.scope(), "home")
    said = [await memory.say("Good.", session=session, turn=n) for n, session in enumerate("abc", 2)]
    way = {"type": BlockType.PROCEDURAL, "project": "larkfield"}
    await memory.tell("release", "done_by", "build, test, tag, push", source=said[0], **way)
    await memory.tell("hotfix", "done_by", "push, tag, test, build", source=said[1], **way)
    await memory.tell("launch", "done_by", "build; test; tag", source=said[2], status=BlockStatus.REVIEW, **way)
    assert 0 == await consolidate(bench.ctx)
