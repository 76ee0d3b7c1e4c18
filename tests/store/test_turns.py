"""Table turns: identity, order, claims and receipts."""

import asyncio
from dataclasses import replace

import pytest

from nextlevel.errors import UnknownInstallation
from nextlevel.model import TurnState
from nextlevel.store import scopes, turns
from tests.support import builders


async def receive(db, *events):
    owner = await builders.scope(db)
    async with db.pipeline() as conn:
        how = [await turns.receive(conn, each, owner) for each in events]
        for install in {each.install for each in events}:
            await turns.receipt(conn, install, advance=True)
    return how


async def ready(db, state=TurnState.RECEIVED, *, gap_wait_s=30.0):
    async with db.pipeline() as conn:
        return await turns.ready(conn, state, limit=100, gap_wait_s=gap_wait_s)


async def claim(db, ready_turn, state=TurnState.RECEIVED, *, lease_s=10.0):
    async with db.pipeline() as conn:
        return await turns.claim(conn, ready_turn.tenant_id, ready_turn.id, state, ready_turn.fence, lease_s=lease_s)


async def receipt(db, install="home"):
    async with db.pipeline() as conn:
        return await turns.receipt(conn, install)


async def test_the_same_event_twice_is_one_turn(db):
    """A stream delivers at least once."""
    one = builders.event(seq=1)
    assert [("home:1", "received"), ("home:1", "duplicate")] == await receive(db, one, one)


async def test_another_turn_under_a_taken_number_is_kept_as_a_fork_and_the_receipt_says_so(db):
    """A home restored from a backup must lose neither its old turns nor its new ones."""
    first, other = builders.event("one", seq=1), builders.event("two", seq=1, fp="b" * 64)
    how = await receive(db, first, other)
    assert [("home:1", "received"), (f"home~{'b' * 8}:1", "forked")] == how
    assert {"1": "b" * 8} == (await receipt(db))["forks"]


async def test_the_same_turn_under_another_id_is_skipped_and_names_its_twin(db):
    """A new install id must not double what was delivered under the old one."""
    first = builders.event(seq=1)
    twin = replace(first, id="home.ab12cd:1")
    await receive(db)
    await builders.scope(db, install="home.ab12cd")
    assert ("home.ab12cd:1", "skipped") == (await receive(db, first, twin))[1]
    async with db.pipeline() as conn:
        assert "the same turn as home:1" == await conn.fetchval("SELECT reason FROM turns WHERE id = $1", twin.id)


async def test_a_cloned_home_inherits_its_owner_and_a_stranger_is_refused(db):
    owner = await builders.scope(db, install="abc")
    async with db.pipeline() as conn:
        clone = await scopes.resolve(conn, "abc.12ff00", profile="default", principal="local", accept_unenrolled=False)
        assert owner == clone
        with pytest.raises(UnknownInstallation):
            await scopes.resolve(conn, "nobody", profile="p", principal="local", accept_unenrolled=False)


async def test_two_speakers_of_one_gateway_are_two_users(db):
    one = await builders.scope(db, principal="telegram:1")
    two = await builders.scope(db, principal="telegram:2")
    assert one.user_id != two.user_id
    assert not set(one.readable) & set(two.readable)
    assert one == await builders.scope(db, principal="telegram:1")


async def test_profiles_of_one_person_share_the_user_scope_only(db):
    work, home = await builders.scope(db, profile="work"), await builders.scope(db, profile="home")
    assert work.user_scope == home.user_scope
    assert work.profile_scope != home.profile_scope


async def test_a_receipt_is_a_contiguous_mark_and_the_gaps_above_it(db):
    """The last success must never hide an earlier loss."""
    await receive(db, *(builders.event(seq=n) for n in (1, 2, 5, 6, 9)))
    found = await receipt(db)
    assert (2, 9, [[3, 4], [7, 8]]) == (found["mark"], found["high"], found["gaps"])

    await receive(db, *(builders.event(seq=n) for n in (3, 4)))
    found = await receipt(db)
    assert (6, 9, [[7, 8]]) == (found["mark"], found["high"], found["gaps"])


async def test_a_turn_waits_for_the_earlier_turns_of_its_session(db):
    """A correction must not be applied before what it corrects."""
    await receive(db, builders.event(seq=1), builders.event(seq=2), builders.event(seq=3, session="other"))
    assert ["home:1", "home:3"] == [each.id for each in await ready(db)]

    first = await claim(db, (await ready(db))[0])
    async with db.pipeline() as conn:
        assert await turns.advance(conn, first, TurnState.SKIPPED, "chit-chat")
    assert ["home:2", "home:3"] == [each.id for each in await ready(db)]


async def test_a_missing_forerunner_is_waited_for_but_not_for_ever(db):
    await receive(db, builders.event(seq=1), builders.event(seq=3, session="other"))
    assert ["home:1"] == [each.id for each in await ready(db)]
    assert ["home:1", "home:3"] == [each.id for each in await ready(db, gap_wait_s=0)]


async def test_of_many_claims_under_one_fence_one_wins(db):
    await receive(db, builders.event(seq=1))
    turn = (await ready(db))[0]
    claims = await asyncio.gather(*(claim(db, turn) for _ in range(6)))
    assert 1 == sum(each is not None for each in claims)
    assert [] == await ready(db), "an owned turn is not offered again"


async def test_an_expired_lease_counts_as_a_crash_and_the_old_owner_can_write_no_more(db):
    """A killed worker costs a lease; one that only slept must not write over its successor."""
    await receive(db, builders.event(seq=1))
    first = await claim(db, (await ready(db))[0], lease_s=0)
    offered = (await ready(db))[0]
    assert (1, first.fence) == (offered.crashes, offered.fence)
    second = await claim(db, offered)
    assert 1 == second.crashes
    async with db.pipeline() as conn:
        assert not await turns.advance(conn, first, TurnState.EXTRACTED)
        assert await turns.advance(conn, second, TurnState.EXTRACTED)


async def test_a_turn_put_back_waits_and_counts_no_attempt(db):
    """Redis down for an hour is not the turn's fault."""
    await receive(db, builders.event(seq=1))
    taken = await claim(db, (await ready(db))[0])
    async with db.pipeline() as conn:
        await turns.put_back(conn, taken, delay_s=60, reason="the model is busy")
    assert [] == await ready(db)
    async with db.pipeline() as conn:
        row = await conn.fetchrow("SELECT attempts, crashes, reason FROM turns WHERE id = 'home:1'")
        await conn.execute("UPDATE turns SET not_before = now()")
    assert (0, 0, "the model is busy") == tuple(row)
    assert 0 == (await claim(db, (await ready(db))[0])).crashes


async def test_the_end_of_a_session_is_noted_and_needs_no_stage(db):
    await receive(db, builders.event(seq=1), builders.event("", seq=2, kind="session_end", assistant_text=""))
    async with db.pipeline() as conn:
        assert await conn.fetchval("SELECT ended_at IS NOT NULL FROM sessions")
        assert "skipped" == await conn.fetchval("SELECT state FROM turns WHERE id = 'home:2'")


async def test_a_clock_ahead_of_ours_is_clipped(db):
    """A laptop in the year 2099 must not outrank everything said after it."""
    await receive(db, builders.event(seq=1, at="2099-01-01T00:00:00+02:00"))
    async with db.pipeline() as conn:
        assert await conn.fetchval("SELECT at < now() + interval '6 minutes' FROM turns")


async def test_the_window_holds_the_turns_before_in_order_and_in_the_speakers_zone(db):
    at = "2026-06-03T00:30:00+02:00"
    await receive(db, builders.event("a", seq=1, at=at), builders.event("b", seq=2), builders.event("c", seq=3))
    async with db.pipeline() as conn:
        await conn.execute("UPDATE turns SET state = 'skipped', reason = '-', finished_at = now() WHERE seq < 3")
    taken = await claim(db, (await ready(db))[0])
    async with db.pipeline() as conn:
        window = await turns.window(conn, taken, limit=5)
    assert ["a", "b"] == [each.user_text for each in window]
    assert "2026-06-03T00:30:00+02:00" == window[0].at.isoformat()
