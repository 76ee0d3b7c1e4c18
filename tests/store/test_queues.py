"""What an operator sees of the queues, and does to a turn that is stuck."""

from __future__ import annotations

from typing import Any

import pytest

from nextlevel.errors import NotFound
from nextlevel.model import TurnState
from nextlevel.store import letters, queues, trace, turns
from nextlevel.store.pool import Database
from nextlevel.store.queues import Place, Wanted
from tests.support.builders import event, scope


async def take_in(db: Database, *events: Any) -> None:
    owner = await scope(db)
    async with db.pipeline() as conn:
        for each in events:
            await turns.receive(conn, each, owner)


async def look(db: Database, **wanted: Any) -> list[dict[str, Any]]:
    async with db.pipeline() as conn:
        return await queues.waiting(conn, Wanted(**wanted), limit=50)


async def claim(db: Database, number: int, fence: int = 0) -> turns.Claim | None:
    owner = await scope(db)
    async with db.pipeline() as conn:
        return await turns.claim(conn, owner.tenant_id, f"home:{number}", TurnState.RECEIVED, fence, lease_s=15)


async def test_a_search_finds_what_it_names_and_takes_wild_cards_for_what_they_are(db):
    """A session's id or a text is anybody's: % and _ are letters in it."""
    await take_in(
        db,
        event("100 % of it", seq=1, session="s/1' OR 1"),
        event("100 of it", seq=2, session="s%2"),
        event("nothing of the kind", seq=3, session="other", lane="batch"),
    )
    assert ["home:1"] == [each["id"] for each in await look(db, text="100 %")]
    assert ["home:1"] == [each["id"] for each in await look(db, session="1' OR")]
    assert ["home:2"] == [each["id"] for each in await look(db, session="s%2")]
    assert ["home:3"] == [each["id"] for each in await look(db, lane="batch")]
    assert ["home:2"] == [each["id"] for each in await look(db, text="home:2")]
    assert [] == await look(db, state="linked")


async def test_pages_go_by_key_and_miss_nothing(db):
    """An offset would skip a row for each one that ended between two pages."""
    await take_in(db, *(event(seq=number) for number in range(1, 8)))
    seen, after = [], None
    async with db.pipeline() as conn:
        while page := await queues.waiting(conn, Wanted(), after=after, limit=3):
            seen += [each["id"] for each in page]
            after = Place(page[-1]["received_at"], page[-1]["id"])
    assert [f"home:{number}" for number in range(1, 8)] == seen


async def test_a_turn_says_what_it_waits_for(db):
    """ "Stuck" is no answer; "behind home:1" is one."""
    await take_in(db, event(seq=1), event(seq=2), event(seq=9, session="s2"))
    behind = {each["id"]: (each["behind"], each["gap"]) for each in await look(db)}
    assert (None, True) == behind["home:9"]
    assert "home:1" == behind["home:2"][0]
    assert None is behind["home:1"][0]
    owner = await scope(db)
    async with db.pipeline() as conn:
        alone = {name: await queues.waits_for(conn, owner.tenant_id, name) for name in behind}
    assert behind == {name: (each["behind"], each["gap"]) for name, each in alone.items()}


async def test_depths_tell_age_lanes_and_who_is_held(db):
    """Depth alone hides one turn that has waited for hours."""
    await take_in(db, event(seq=1), event(seq=2, lane="backfill"))
    await claim(db, 1)
    async with db.pipeline() as conn:
        await conn.execute("UPDATE turns SET received_at = received_at - interval '1 hour'")
        received, extracted, linked = await queues.depths(conn)
    assert (2, 1, 1, 1) == tuple(received[name] for name in ("waiting", "running", "live", "backfill"))
    assert received["oldest_s"] > 3599
    assert (0, 0.0) == (extracted["waiting"], linked["oldest_s"])


async def test_released_a_turn_can_be_taken_and_its_former_holder_writes_nothing(db):
    """The holder may be alive and slow: its commit must find the fence moved."""
    await take_in(db, event(seq=1))
    held = await claim(db, 1)
    assert held is not None
    async with db.pipeline() as conn:
        await queues.release(conn, held.scope.tenant_id, "home:1")
        assert not await turns.advance(conn, held, TurnState.STORED)
        ready = await turns.ready(conn, TurnState.RECEIVED, limit=10, gap_wait_s=0)
    assert [("home:1", 2, 0)] == [(each.id, each.fence, each.crashes) for each in ready]


async def test_a_put_off_turn_that_is_released_is_tried_at_once(db):
    """The cause was mended: nobody wants to wait out the pause."""
    await take_in(db, event(seq=1))
    held = await claim(db, 1)
    assert held is not None
    async with db.pipeline() as conn:
        await turns.put_back(conn, held, delay_s=3600, reason="it was down")
        assert [] == await turns.ready(conn, TurnState.RECEIVED, limit=10, gap_wait_s=0)
        await queues.release(conn, held.scope.tenant_id, "home:1")
        assert 1 == len(await turns.ready(conn, TurnState.RECEIVED, limit=10, gap_wait_s=0))


async def test_a_killed_turn_is_dead_with_a_letter_and_can_begin_anew(db):
    """A kill is a decision too: visible, with a way back."""
    await take_in(db, event(seq=1))
    owner = await scope(db)
    async with db.pipeline() as conn:
        await queues.kill(conn, owner.tenant_id, "home:1")
        with pytest.raises(NotFound):
            await queues.kill(conn, owner.tenant_id, "home:1")
        with pytest.raises(NotFound):
            await queues.release(conn, owner.tenant_id, "home:1")
        assert ["killed"] == [each["code"] for each in await letters.of_turn(conn, owner.tenant_id, "home:1")]
        assert await letters.requeue(conn, owner.tenant_id, "home:1")
        assert [] == await letters.of_turn(conn, owner.tenant_id, "home:1")
        assert not await letters.requeue(conn, owner.tenant_id, "home:1")
    async with db.memory(owner) as conn:
        found = await trace.of_turn(conn, owner.tenant_id, "home:1")
    assert ["dead", "retried"] == [each["step"] for each in found["events"]]
    assert ("received", None, 0, 0) == tuple(
        found["turn"][name] for name in ("state", "finished_at", "attempts", "crashes")
    )


async def test_what_ended_is_counted_by_slot_and_by_state(db):
    await take_in(db, event(seq=1), event(seq=2, kind="session_end"))
    async with db.pipeline() as conn:
        assert [0, 0, 1] == await queues.flow(conn, slot_s=60, slots=3)
        assert {"skipped": 1} == await queues.ended(conn)
        found = await queues.finished(conn, Wanted(state="skipped"), limit=10)
    assert ["home:2"] == [each["id"] for each in found]
