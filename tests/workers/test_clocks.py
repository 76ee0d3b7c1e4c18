"""Dates and clocks that can't be right: bounded, visible, and no turn or memory is lost to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.support.builders import NOON, event


@pytest.mark.parametrize(
    "odd",
    [
        "harbour-api runs on port 9090 since 0000-01-01.",
        "harbour-api runs on port 9090 since 0001-01-01.",
        "harbour-api runs on port 9090 from 9999-12-31 on.",
        "harbour-api runs on port 9090 until 9999-12-31.",
        "The deadline for harbour-api is 9999-12-31.",
    ],
)
async def test_a_date_at_the_end_of_the_calendar_harms_neither_its_turn_nor_the_next(bench, odd):
    """A block whose life ends after the year 9999 can't be read back: it kills later turns about its subject."""
    await bench.remember(event(odd, seq=1), event("harbour-api uses Redis.", seq=2, session="s2"))
    assert {"stored"} == {row["state"] for row in await bench.rows("SELECT state FROM turns")}
    kept = await bench.rows("SELECT valid_from, valid_to, expires_at FROM blocks")
    assert 2 == len(kept)
    assert all(1000 <= moment.year < 3400 for row in kept for moment in row if moment is not None)


async def test_a_machine_without_a_clock_is_remembered_all_the_same(bench):
    """Its times are of 1970; "since yesterday" still has a day before it."""
    early = event("harbour-api runs on port 9090 since yesterday.", seq=1)
    await bench.remember(replace(early, at="0001-01-01T00:30:00+00:00"))
    [row] = await bench.rows("SELECT state, at FROM turns")
    assert ("stored", 1970) == (row["state"], row["at"].year)


async def test_a_clock_that_runs_backwards_loses_no_correction(bench):
    """Daylight saving that nobody asked for: what is said later in a session was said later."""
    an_hour_ago = NOON - timedelta(hours=1)
    await bench.remember(
        event("harbour-api runs on port 8080.", seq=1),
        replace(event("No, harbour-api runs on port 8091.", seq=2), at=an_hour_ago.isoformat()),
        replace(event("harbour-api uses Redis.", seq=3), at=(an_hour_ago + timedelta(minutes=1)).isoformat()),
    )
    ports = await bench.rows("SELECT value, status FROM blocks WHERE predicate = 'runs_on_port'")
    assert {"8080": "superseded", "8091": "active"} == {row["value"]: row["status"] for row in ports}
    told = [row["at"] for row in await bench.rows("SELECT at FROM turns ORDER BY seq")]
    assert sorted(set(told)) == told


async def test_an_import_into_a_session_keeps_its_own_times(bench):
    """What is read from the host's store afterwards was said when it says, whatever its number."""
    before = replace(event("harbour-api runs on port 8080.", seq=2, lane="backfill"), at=NOON.isoformat())
    await bench.remember(event("harbour-api runs on port 8091.", seq=1), before)
    ports = await bench.rows("SELECT value, status FROM blocks WHERE predicate = 'runs_on_port'")
    assert {"8080": "superseded", "8091": "active"} == {row["value"]: row["status"] for row in ports}
