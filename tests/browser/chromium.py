"""The browser of this machine: found on PATH, else installed by apt where we may, else it is said how."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, async_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str:
    """The path of a Chromium.

    Raises:
        RuntimeError: there is none and it can't be installed; the message says what to do.
    """
    found = _on_path()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _install()
        found = _on_path()
    if found is None:
        raise RuntimeError(
            "no Chromium on PATH. On Debian and Ubuntu: `apt install chromium`; on Fedora: `dnf install chromium`; "
            "elsewhere install Chrome so that `google-chrome` is found"
        )
    return found


@asynccontextmanager
async def browser() -> AsyncIterator[Browser]:
    """A headless browser for as long as the block runs."""
    # Chromium's sandbox refuses root; /dev/shm is too small for it in a container.
    options = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    async with async_playwright() as driver:
        opened = await driver.chromium.launch(executable_path=find(), args=options)
        try:
            yield opened
        finally:
            await opened.close()


def main() -> int:
    """Say which one it is; exit code 1 and what to do where there is none."""
    try:
        print(f"Chromium: {find()}")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _on_path() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name)) is not None), None)


def _install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-qq", "--no-install-recommends", "chromium"]):
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=600)


if __name__ == "__main__":
    sys.exit(main())
