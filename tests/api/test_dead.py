"""Deciding about what died: one letter, or all that fit a filter, and never more than was seen."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict
from typing import Any

import pytest

from nextlevel.model import TurnState
from nextlevel.queue import streams
from nextlevel.store import status, turns
from nextlevel.store.status import LONGEST_INPUT, add_dead_letter
from tests.support.builders import event, scope


async def die(services: Any, number: int, code: str = "IndexError") -> None:
    """A turn that died as a stage lets it die."""
    owner = await scope(services.db)
    async with services.db.pipeline() as conn:
        await turns.receive(conn, event(seq=number), owner)
        claim = await turns.claim(conn, owner.tenant_id, f"home:{number}", TurnState.RECEIVED, 0, lease_s=15)
        assert claim is not None
        await turns.advance(conn, claim, TurnState.DEAD, f"{code}: why")
        await add_dead_letter(
            conn, "dead", tenant_id=owner.tenant_id, turn_id=f"home:{number}", code=code, reason="why"
        )


async def quarantine(services: Any, raw: bytes | None, *, entry: str = "nl:turns/1-1", **more: Any) -> None:
    async with services.db.pipeline() as conn:
        await add_dead_letter(
            conn, "quarantined", code="unknown_installation", reason="nobody", entry_id=entry, raw=raw, **more
        )


async def letters(as_operator: Any, **filter: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await as_operator.get("/v1/dead", params=filter)).json()
    return found


async def states(services: Any) -> dict[str, int]:
    async with services.db.pipeline() as conn:
        return {row["id"]: row["state"] for row in await conn.fetch("SELECT id, state FROM turns")}


async def test_only_the_operator_decides(as_nele, as_nobody):
    """The letters hold every tenant's words."""
    body = {"up_to": 1}
    assert 403 == (await as_nele.get("/v1/dead")).status_code
    assert 403 == (await as_nele.post("/v1/dead/retry", json=body)).status_code
    assert 403 == (await as_nele.post("/v1/dead/discard", json=body)).status_code
    assert 401 == (await as_nobody.get("/v1/dead")).status_code


async def test_a_retry_is_about_the_filter_and_about_nothing_newer(app, as_operator):
    """More fit than a page shows; and what died meanwhile, nobody has looked at."""
    services = app.state.services
    for number in (1, 2, 3):
        await die(services, number)
    await die(services, 4, "poison")
    seen = await letters(as_operator, code="IndexError", limit=1)
    assert (3, 1) == (seen["count"], len(seen["letters"]))
    await die(services, 5)

    done = await as_operator.post("/v1/dead/retry", json={"code": "IndexError", "up_to": seen["newest"]})
    assert {"done": 3, "left": {}} == done.json()
    assert {"home:1": "received", "home:2": "received", "home:3": "received", "home:4": "dead", "home:5": "dead"} == (
        await states(services)
    )
    assert ["home:5", "home:4"] == [each["turn"] for each in (await letters(as_operator))["letters"]]


async def test_discarded_letters_are_gone_and_their_turns_stay_dead(app, as_operator):
    services = app.state.services
    for number in (1, 2):
        await die(services, number)
    seen = await letters(as_operator)
    one = seen["letters"][0]["id"]
    assert 1 == (await as_operator.post("/v1/dead/discard", json={"up_to": 1, "letter": one})).json()["done"]
    assert 404 == (await as_operator.post("/v1/dead/discard", json={"up_to": 1, "letter": one})).status_code
    assert 1 == (await as_operator.post("/v1/dead/discard", json={"up_to": seen["newest"]})).json()["done"]
    assert {"dead"} == set((await states(services)).values())
    async with services.db.pipeline() as conn:
        assert {} == (await status.snapshot(conn))["dead_letters"]


@pytest.mark.parametrize("packed", [False, True])
async def test_what_never_became_a_turn_is_published_again_as_it_came(app, as_operator, packed):
    """After the enrolment that was missing, nobody has to find the sender's machine."""
    services = app.state.services
    raw = json.dumps(asdict(event(seq=1)) | {"tools": []}).encode()
    await quarantine(services, base64.b64encode(zlib.compress(raw)) if packed else raw, entry="nl:turns:bulk/1-1")
    done = await as_operator.post("/v1/dead/retry", json={"up_to": 10**9})
    assert {"done": 1, "left": {}} == done.json()
    [(_, fields)] = await services.redis.xrange("nl:turns:bulk")
    assert b"We deploy on Thursdays." in (zlib.decompress(base64.b64decode(fields[b"z"])) if packed else fields[b"e"])
    assert 0 == (await letters(as_operator))["count"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"{" + b"x" * LONGEST_INPUT, "not all of its input was kept"),
        (None, "not all of its input was kept"),
        (b"{'no': json", "can't be read"),
    ],
)
async def test_what_can_not_be_retried_stays_and_says_why(app, as_operator, raw, why):
    """Half an event would be quarantined again, or worse: taken in."""
    services = app.state.services
    await quarantine(services, raw)
    done = (await as_operator.post("/v1/dead/retry", json={"up_to": 10**9})).json()
    assert 0 == done["done"]
    assert why in next(iter(done["left"]))
    assert 1 == (await letters(as_operator))["count"]
    assert 0 == sum((await streams.depths(services.redis)).values())
