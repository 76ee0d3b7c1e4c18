"""Each page in a real browser: quiet consoles, no sideways scrolling, both themes, live where it says so."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Browser, Page, expect

from nextlevel.auth import OPERATOR, token
from nextlevel.store import turns
from tests.support.builders import event

from .conftest import SECRET, House, watched
from .scene import trouble

pytestmark = pytest.mark.browser

HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
}"""
LONG = "w" * 4_000 + " <script>document.title = 'taken'</script> \u202e"


async def addresses(house: House) -> list[str]:
    """Every kind of page, with something on each."""
    memory = await house.person()
    block = await memory.tell("crm", "is_called", LONG, context=LONG[:290])
    after = await memory.tell("crm", "is_called", "else", replaces=block)
    base = f"/dashboard/memory/{memory.scope.profile_scope}"
    return [
        "/dashboard/",
        "/dashboard/queues",
        "/dashboard/queues?view=ended",
        "/dashboard/dead",
        "/dashboard/dead/decide?deed=retry",
        "/dashboard/turns/kontor:1",
        "/dashboard/turns/kontor:11",
        "/dashboard/turns/kontor:1/kill",
        "/dashboard/memory",
        f"{base}/{block.id}",
        f"{base}/{after.id}/forget",
        "/dashboard/login",
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
async def test_every_page_is_quiet_and_fits(house: House, chromium: Browser, theme: str, width: int):
    """No complaint in the console, nothing from elsewhere, no scrolling to the side; on a phone and on a desk."""
    await trouble(house.settings)
    context = await chromium.new_context(
        base_url=house.url, viewport={"width": width, "height": 900}, color_scheme=theme
    )
    page = await context.new_page()
    with watched(page):
        for address in await addresses(house):
            answer = await page.goto(address)
            assert answer is not None
            assert 200 == answer.status, address
            for summary in await page.locator("summary:visible").all():
                await summary.click()
            wide = await page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, address
            ground = await page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(int(part) for part in ground[4:-1].split(",")) < 384) == (theme == "dark")
            assert "taken" != await page.title()
        await context.close()


async def test_a_chosen_theme_stays(house: House, page: Page):
    await page.emulate_media(color_scheme="light")
    await page.goto("/dashboard/")
    button = page.get_by_role("button", name="Theme")
    for name in ("light", "dark"):
        await button.click()
        await expect(button).to_contain_text(name)
    await page.goto("/dashboard/queues")
    assert "dark" == await page.evaluate("document.documentElement.dataset.theme")
    assert "dark" == await page.evaluate("getComputedStyle(document.documentElement).colorScheme")


async def test_the_overview_follows_what_happens(house: House, page: Page):
    """Without a reload: the page that hangs on the wall."""
    await page.goto("/dashboard/")
    await expect(page.locator("#pulse")).to_have_text("live")
    tile = page.get_by_role("link", name="Oldest waiting")
    await expect(tile).to_contain_text("nothing waits")
    owner = (await house.person()).scope
    async with house.db.pipeline() as conn:
        await turns.receive(conn, event(seq=1), owner)
    await expect(tile).to_contain_text("1 turn waits", timeout=15_000)


async def test_a_hidden_tab_asks_for_nothing(house: House, page: Page):
    """A forgotten tab must not keep a database busy for a week."""
    await page.goto("/dashboard/")
    await expect(page.locator("#pulse")).to_have_text("live")
    await page.evaluate(HIDE, True)
    await expect(page.locator("#pulse")).to_have_text("resting")
    tile = page.get_by_role("link", name="Oldest waiting")
    owner = (await house.person()).scope
    async with house.db.pipeline() as conn:
        await turns.receive(conn, event(seq=1), owner)
    await asyncio.sleep(5)  # two beats: that nothing comes can only be seen by waiting
    await expect(tile).to_contain_text("nothing waits")
    await page.evaluate(HIDE, False)
    await expect(page.locator("#pulse")).to_have_text("live")
    await expect(tile).to_contain_text("1 turn waits", timeout=15_000)


async def test_the_keyboard_reaches_everything_and_shows_where_it_is(house: House, page: Page):
    await page.goto("/dashboard/queues")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Overview")).to_be_focused()
    assert "solid" in await page.evaluate("getComputedStyle(document.activeElement).outline")


async def test_through_a_proxy_the_service_asks_for_the_token(house: House, chromium: Browser):
    """Behind a proxy on this machine, for somebody elsewhere: the way in is the operator's token."""
    context = await chromium.new_context(base_url=house.url, extra_http_headers={"X-Forwarded-For": "203.0.113.9"})
    page = await context.new_page()
    await page.goto("/dashboard/queues?lane=live")
    await page.get_by_label("Operator's token").fill("guess")
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("alert")).to_be_visible()
    await page.get_by_label("Operator's token").fill(token(SECRET.encode(), OPERATOR))
    await page.get_by_role("button", name="Log in").click()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Queues")
    assert page.url.endswith("/dashboard/queues?lane=live")
    [cookie] = await context.cookies()
    assert (True, "Strict") == (cookie["httpOnly"], cookie["sameSite"])
    await page.get_by_role("button", name="Log out").click()
    await expect(page.get_by_label("Operator's token")).to_be_visible()
    await context.close()
