"""Repeated choices become a preference by upkeep: explainable, repeatable, and never against what was said."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nextlevel.model import ToolCall
from nextlevel.store.forget import forget_blocks
from nextlevel.workers.habits import learn_habits
from tests.support.builders import event

NOW = datetime.now(UTC)


def chosen(seq: int, session: str, tool: str = "poetry"):
    """A turn in which the agent runs a package manager for the user."""
    call = ToolCall("terminal", f'{{"command": "{tool} add httpx"}}', "ok")
    at = (NOW - timedelta(days=3) + timedelta(minutes=seq)).isoformat()
    return replace(event("please add httpx to it", seq=seq, tools=(call,)), session=session, at=at)


POETRY = (chosen(1, "s1"), chosen(2, "s1"), chosen(3, "s2"))


async def tastes(bench, status="active"):
    rows = await bench.rows(
        "SELECT object, provenance, confidence, context FROM blocks WHERE type = 'user_preference' AND status = $1",
        status,
    )
    return {row["object"]: row for row in rows}


@pytest.fixture
async def habit(bench):
    await bench.remember(*POETRY)
    assert 1 == await learn_habits(bench.ctx)
    return bench


async def test_a_choice_made_in_three_turns_of_two_sessions_becomes_a_preference(habit):
    taste = (await tastes(habit))["poetry"]
    assert "inferred" == taste["provenance"]
    assert taste["confidence"] <= 0.7
    assert "3 turns of 2 sessions" in taste["context"]
    sources = await habit.rows("SELECT turn_id, span FROM block_sources ORDER BY turn_id")
    assert ["home:1", "home:2", "home:3"] == [row["turn_id"] for row in sources]
    assert {"poetry add"} == {row["span"] for row in sources}
    [step] = await habit.rows("SELECT turn_id FROM trace_events WHERE step = 'habit'")
    assert "home:3" == step["turn_id"]


async def test_looking_again_changes_nothing_and_one_more_choice_adds_its_turn(habit):
    """Upkeep runs each hour, on every worker."""
    assert 0 == await learn_habits(habit.ctx)
    await habit.remember(chosen(4, "s3"))
    assert 1 == await learn_habits(habit.ctx)
    assert 4 == len(await habit.rows("SELECT FROM block_sources"))
    assert ["poetry"] == list(await tastes(habit))


async def test_what_the_person_says_replaces_the_habit_at_once(habit):
    await habit.remember(replace(event("I prefer uv for Python packages.", seq=5), session="s4", at=NOW.isoformat()))
    assert "poetry" not in await tastes(habit)
    assert 0 == await learn_habits(habit.ctx)
    [old] = await habit.rows("SELECT status, superseded_by FROM blocks WHERE object = 'poetry'")
    [said] = await habit.rows("SELECT block_id FROM blocks WHERE object LIKE '%uv%' AND status = 'active'")
    assert ("superseded", said["block_id"]) == tuple(old)


async def test_said_aloud_a_habit_is_a_preference_like_any_other(habit):
    """Nobody could be surer than the person; one block says it, not two."""
    await habit.remember(replace(event("I prefer poetry.", seq=5), session="s4", at=NOW.isoformat()))
    [taste] = await habit.rows(
        "SELECT provenance, confidence FROM blocks WHERE object = 'poetry' AND status = 'active'"
    )
    assert "user_stated" == taste["provenance"]
    assert taste["confidence"] > 0.7
    assert 0 == await learn_habits(habit.ctx)


async def test_no_habit_is_learnt_against_what_the_person_said(bench):
    await bench.remember(event("I prefer uv for Python packages.", seq=9), *POETRY)
    assert 0 == await learn_habits(bench.ctx)
    assert "poetry" not in await tastes(bench)


async def test_a_forgotten_habit_needs_three_new_choices_to_come_back(habit):
    scope = await habit.scope()
    [row] = await habit.rows("SELECT block_id FROM blocks WHERE object = 'poetry'")
    async with habit.ctx.db.memory(scope) as conn:
        await forget_blocks(conn, scope, [row["block_id"]])
    await habit.rows("UPDATE turns SET hidden = false")  # though the turns themselves were still to be seen
    assert 0 == await learn_habits(habit.ctx)
    assert {} == await tastes(habit)


async def test_a_habit_goes_when_its_turns_no_longer_show_it(habit):
    await habit.remember(event("", seq=6, kind="retract", turn=0, body={"turns": ["home:3"]}))
    await learn_habits(habit.ctx)
    assert {} == await tastes(habit)
    assert "poetry" in await tastes(habit, "expired")


async def test_another_persons_choices_are_not_mine(bench):
    others = [replace(each, id=f"flat:{each.seq}", principal="telegram:7") for each in POETRY[1:]]
    await bench.remember(POETRY[0], *others)
    assert 0 == await learn_habits(bench.ctx)
