"""What an operator comes for: a turn that is stuck, a memory that is wrong, a heap of dead letters."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Page, expect

from nextlevel.model import TurnState
from nextlevel.store import turns
from nextlevel.store.status import add_dead_letter
from tests.support.builders import event

from .conftest import House

pytestmark = pytest.mark.browser


async def claim(house: House, number: int) -> turns.Claim:
    owner = (await house.person()).scope
    async with house.db.pipeline() as conn:
        held = await turns.claim(conn, owner.tenant_id, f"home:{number}", TurnState.RECEIVED, 0, lease_s=15)
    assert held is not None
    return held


async def stuck(house: House, number: int, text: str, session: str) -> None:
    """A turn that a stage has put off for an hour, with the reason."""
    owner = (await house.person()).scope
    async with house.db.pipeline() as conn:
        await turns.receive(conn, event(text, seq=number, session=session, turn=1), owner)
    held = await claim(house, number)
    async with house.db.pipeline() as conn:
        await turns.put_back(conn, held, delay_s=3600, reason="the language model answers 429: quota exceeded")


async def test_a_stuck_turn_is_found_understood_and_tried_again(house: House, page: Page):
    """The quota was raised at noon; nobody wants to wait for the pause to run out."""
    await stuck(house, 1, "The port of the crm is 8080.", "s/1 \"quoted'")
    await stuck(house, 2, "Another turn, of another session.", "s2")
    house.start_worker()

    await page.goto("/dashboard/")
    await page.get_by_role("link", name="Oldest waiting").click()
    await expect(page.get_by_role("row")).to_have_count(3)
    await page.get_by_label("Session").fill("quoted'")
    await expect(page.get_by_role("row")).to_have_count(2)
    assert "session=quoted%27" in page.url
    await expect(page.get_by_role("row").nth(1)).to_contain_text("quota exceeded")
    await page.get_by_role("link", name="home:1").click()
    await expect(page.get_by_text("Why it waits:")).to_be_visible()
    await page.get_by_role("button", name="Try now").click()
    await expect(page.get_by_role("status")).to_contain_text("Released")

    await house.until("home:1", "stored")
    await page.reload()
    await expect(page.get_by_role("heading", name="released")).to_be_visible()
    await page.get_by_role("link", name="crm runs on port 8080").click()
    await expect(page.locator("mark")).to_contain_text("8080")


async def test_a_turn_that_holds_up_its_session_is_ended_and_retried(house: House, page: Page):
    await stuck(house, 1, "The port of the crm is 8080.", "s1")
    await page.goto("/dashboard/turns/home:1")
    await page.get_by_role("link", name="End it…").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("home:1")
    await page.get_by_role("button", name="End it").click()
    await expect(page.get_by_role("status")).to_contain_text("Ended")
    await expect(page.get_by_text("Dead letter killed")).to_be_visible()

    house.start_worker()
    await page.get_by_role("button", name="Retry").click()
    await expect(page.get_by_role("status")).to_contain_text("Retried")
    await house.until("home:1", "stored")


async def test_dead_letters_are_counted_decided_on_by_filter_and_gone(house: House, page: Page):
    """Sixty of a kind, more than a page shows, are decided on at once, and those of another kind are not."""
    async with house.db.pipeline() as conn:
        for number in range(70):
            code, reason = ("bad_json", "not an object") if number < 60 else ("too_large", "5000000 bytes")
            await add_dead_letter(conn, "quarantined", code=code, reason=reason, raw=b"{")
    await page.goto("/dashboard/dead")
    await expect(page.get_by_text("70 letters fit")).to_be_visible()
    await page.get_by_role("combobox", name="Code").select_option("bad_json")
    await expect(page.get_by_text("60 letters fit")).to_be_visible()
    await expect(page.locator(".letters > li")).to_have_count(50)
    await page.get_by_role("link", name="Discard all that fit…").click()
    await page.get_by_role("button", name="Discard 60").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("60 discarded")
    await page.goto("/dashboard/dead")
    await expect(page.get_by_text("10 letters fit")).to_be_visible()
    await page.locator(".headline").first.click()
    await expect(page.get_by_text("Shorten the tools' results at the sender").first).to_be_visible()


async def test_a_wrong_memory_is_found_traced_to_its_source_and_forgotten(house: House, page: Page):
    """Whoever finds that the agent believes something wrong wants to see who said so, and to be rid of it."""
    house.start_worker()
    await house.publish(event("Port 8080 is taken, so the crm runs on port 8099 now.", seq=1, turn=1))
    await house.publish(event("I like short commit messages.", seq=2, turn=2))
    await house.until("home:1", "stored")
    await house.until("home:2", "stored")

    await page.goto("/dashboard/memory")
    before = await page.get_by_role("row").count()
    await page.get_by_label("Text").fill("8099")
    await expect(page.get_by_role("row")).to_have_count(2)
    await page.get_by_role("link", name=re.compile("8099")).click()
    await expect(page.locator("mark").first).to_contain_text("8099")
    sentence = await page.get_by_role("heading", level=1).inner_text()

    await page.get_by_role("link", name="Forget…").click()
    await expect(page.get_by_text(sentence)).to_be_visible()
    await page.get_by_role("link", name="Keep it").click()
    await page.get_by_role("link", name="Forget…").click()
    await page.get_by_role("button", name="Forget it").click()
    await expect(page.get_by_role("status")).to_contain_text("Forgotten")
    await expect(page.get_by_role("row")).to_have_count(before - 1)
    await expect(page.get_by_text(sentence)).to_have_count(0)
