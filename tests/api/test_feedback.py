"""What a person says of a memory moves its place a little, at once, and not for ever."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.api.conftest import scope


@pytest.fixture
def recalled(as_nele):
    """Blocks' objects in their order with each one's channels, from wherever the scope is read now."""

    async def ask() -> dict[str, dict[str, float]]:
        body = {"query": "port of the crm", "scope": scope(), "mode": "search", "deadline_ms": 5_000}
        answer = (await as_nele.post("/v1/recall", json=body)).json()
        return {item["block"]["object"]: item["channels"] for item in answer["items"]}

    return ask


@pytest.fixture
def says(as_nele):
    async def give(block, verdict: str):
        return await as_nele.post("/v1/feedback", json={"scope": scope(), "block": str(block), "verdict": verdict})

    return give


async def test_a_verdict_decides_between_two_that_are_as_good_and_is_taken_back(nele, recalled, says):
    """Whoever says that a line is wrong should see it go down in the next answer, and be able to change their mind."""
    told = {port: await nele.tell("crm", "has_port", port) for port in ("8080", "8091")}
    first, second = await recalled()
    assert 200 == (await says(told[first].id, "wrong")).status_code
    after = await recalled()
    assert [second, first] == list(after), "lower, and still there"
    assert 0.8 == after[first]["feedback"]
    assert "feedback" not in after[second]
    await says(told[first].id, "used")
    after = await recalled()
    assert [first, second] == list(after)
    assert 1.05 == after[first]["feedback"]
    await says(told[first].id, "none")
    assert all("feedback" not in channels for channels in (await recalled()).values())


async def test_no_verdict_lifts_a_block_over_one_that_fits_much_better(nele, recalled, says):
    """Praise must not make a memory the answer to every question."""
    await nele.tell("crm", "has_port", "8080")
    praised = await nele.tell("crm", "is_hosted_in", "Falkenstein")
    await says(praised.id, "used")
    assert "8080" == next(iter(await recalled()))


async def test_nobody_judges_what_is_not_theirs(nele, kim, says):
    """A verdict on another's memory would tell that it is there."""
    block = await kim.tell("crm", "has_port", "8080")
    assert 404 == (await says(block.id, "wrong")).status_code
    assert 404 == (await says(uuid4(), "used")).status_code
