"""Idle sessions get their digest by upkeep; it follows what is said, and what is forgotten, afterwards."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nextlevel.store.forget import forget_blocks
from nextlevel.workers.digests import digest_sessions
from tests.support.builders import event

NOW = datetime.now(UTC)


def said(text: str, seq: int, *, ago: timedelta = timedelta(hours=2), **more):
    return replace(event(text, seq=seq, **more), at=(NOW - ago).isoformat())


OLD = said("waldseilgarten-crm runs on port 8080 behind caddy.", 1)


async def digests(bench):
    rows = await bench.rows("SELECT session, digest FROM sessions ORDER BY session")
    return {row["session"]: json.loads(row["digest"]) if row["digest"] else None for row in rows}


async def test_a_session_is_digested_once_it_was_idle_for_half_an_hour(bench):
    await bench.remember(OLD, said("We use uv.", 2, ago=timedelta(minutes=5), session="busy"))
    assert 1 == await digest_sessions(bench.ctx)
    found = await digests(bench)
    assert found["busy"] is None
    assert found["s1"]["title"].startswith("waldseilgarten-crm runs on port 8080")
    assert (NOW - timedelta(hours=2)).isoformat() == found["s1"]["from"]
    assert 0 == await digest_sessions(bench.ctx)


async def test_a_session_that_was_ended_is_not_waited_for(bench):
    just_now = timedelta(seconds=5)
    await bench.remember(
        said("We use uv in larkfield.", 1, ago=just_now), said("", 2, ago=just_now, kind="session_end", turn=0)
    )
    assert 1 == await digest_sessions(bench.ctx)


async def test_a_turn_that_comes_later_has_the_digest_made_anew(bench):
    await bench.remember(OLD)
    await digest_sessions(bench.ctx)
    await bench.remember(said("Decision: we stay with caddy.", 2, ago=timedelta(hours=1)))
    assert (await digests(bench))["s1"]["decisions"] == []  # the old one stays in sight until then
    assert 1 == await digest_sessions(bench.ctx)
    assert "we stay with caddy" in (await digests(bench))["s1"]["decisions"][0]["text"]


async def test_a_turn_on_its_way_is_waited_for(bench):
    await bench.tell(OLD)
    assert 0 == await digest_sessions(bench.ctx)
    await bench.drain()
    assert 1 == await digest_sessions(bench.ctx)


async def test_what_is_forgotten_is_in_no_digest_from_that_moment_on(bench):
    """The digest quotes turns: a forgotten fact must not live on there."""
    await bench.remember(OLD, said("Anna leads larkfield.", 2))
    await digest_sessions(bench.ctx)
    scope = await bench.scope()
    [block] = await bench.rows("SELECT block_id FROM blocks WHERE object LIKE '%8080%'")
    async with bench.ctx.db.memory(scope) as conn:
        await forget_blocks(conn, scope, [block["block_id"]])
    assert (await digests(bench))["s1"] is None
    assert 1 == await digest_sessions(bench.ctx)
    assert "8080" not in json.dumps(await digests(bench))
    assert "Anna" in (await digests(bench))["s1"]["title"]


async def test_an_undone_turn_is_in_no_digest_either(bench):
    await bench.remember(OLD)
    await digest_sessions(bench.ctx)
    await bench.remember(said("", 2, kind="retract", turn=0, body={"turns": ["home:1"]}))
    assert (await digests(bench))["s1"] is None
    await digest_sessions(bench.ctx)
    assert (await digests(bench))["s1"] is None
