"""`python -m tests.browser.shoot DATA_DIR OUT`: a picture of each page of a running `nextlevel up`.

Dark and light, wide and narrow. Sets the scene first: run it on the demo's data, not on your own.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.async_api import Browser, Page

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.settings import Settings, load

from .chromium import browser
from .scene import trouble

SIZES = {"wide": (1440, 900), "narrow": (390, 844)}
QUESTIONS = (
    "which port does the crm run on?",
    "how do I like my commit messages?",
    "who takes care of the tax office?",
    "what is the weather on the moon?",
    "which database do we use?",
)


async def main(data_dir: str, out: str) -> None:
    settings = load(data_dir=data_dir)
    await trouble(settings)
    await asyncio.to_thread(_ask, settings)
    async with browser() as opened:
        for theme in ("light", "dark"):
            for size, (width, height) in SIZES.items():
                await _shoot(opened, settings, Path(out), theme, size, width, height)
    _shrink(Path(out))


def _ask(settings: Settings) -> None:
    client = Client(settings.need_service(), token(secret_of(settings), OPERATOR))
    scope = ScopeName()
    for number in range(60):
        client.recall(
            QUESTIONS[number % len(QUESTIONS)], scope, mode="prefetch", session="s-release", deadline_ms=2_000
        )


async def _shoot(
    opened: Browser, settings: Settings, out: Path, theme: str, size: str, width: int, height: int
) -> None:
    context = await opened.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, base_url=settings.need_service()
    )
    page = await context.new_page()
    for name, address in (await _addresses(page)).items():
        await page.goto(address)
        if name == "overview":
            await page.wait_for_selector("#pulse[data-state=live]")
        if name == "dead":
            await page.locator("summary").filter(has_text="IndexError").first.click()
        await page.screenshot(
            path=out / f"{name}-{theme}-{size}.png", clip=await _clip(page, width, height), full_page=True
        )
    await context.close()


async def _addresses(page: Page) -> dict[str, str]:
    """Each page, by name; the turn and the block are those that have most to show."""
    await page.goto("/dashboard/memory?status=superseded")
    block = await page.locator("td.lead a").first.get_attribute("href") or ""
    await page.goto(block)
    turn = await page.locator(".source a").first.get_attribute("href") or ""
    return {
        "overview": "/dashboard/",
        "queues": "/dashboard/queues",
        "dead": "/dashboard/dead",
        "turn": turn,
        "memory": "/dashboard/memory",
        "block": block,
    }


async def _clip(page: Page, width: int, height: int) -> dict[str, float]:
    """The whole page, but no more than a screen and a half of it."""
    tall = await page.evaluate("document.documentElement.scrollHeight")
    return {"x": 0, "y": 0, "width": width, "height": min(tall, height * 1.5)}


def _shrink(out: Path) -> None:
    """Fewer colours: a repository keeps pictures for ever."""
    if shutil.which("pngquant"):
        pictures = [str(each) for each in out.glob("*.png")]
        subprocess.run(
            ["pngquant", "--force", "--ext=.png", "--quality=70-95", "--", *pictures], check=True, timeout=120
        )


if __name__ == "__main__":
    Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    asyncio.run(main(*sys.argv[1:]))
