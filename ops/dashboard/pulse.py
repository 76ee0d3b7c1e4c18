"""The overview's figures, taken at most every two seconds however many look, and sent to them as they change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from nextlevel.api.journal import Figures
from nextlevel.api.services import Services
from nextlevel.errors import NextLevelError
from nextlevel.queue import inspect
from nextlevel.store import letters, queues, status
from nextlevel.store.queues import COUNTED

EVERY_S = 2.0
_SLOT_S = 5
_SLOTS = 60
_NEWEST_LETTERS = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at everything. What could not be asked is empty, and `troubles` says why."""

    depths: list[dict[str, Any]] = field(default_factory=list)
    flow: list[int] = field(default_factory=lambda: [0] * _SLOTS)
    ended: dict[str, int] = field(default_factory=dict)
    dead: int | None = None
    latest: list[dict[str, Any]] = field(default_factory=list)
    installations: list[dict[str, Any]] = field(default_factory=list)
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)
    workers: list[str] | None = None
    recall: Figures | None = None
    troubles: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Turns that ended, per second, over the last minute."""
        newest = self.flow[-60 // _SLOT_S :]
        return sum(newest) / 60

    @property
    def oldest_s(self) -> float:
        """The age of what has waited longest, wherever it is."""
        ages = [each["oldest_s"] for each in self.depths] + [each["oldest_s"] for each in self.streams.values()]
        return max(ages, default=0.0)

    @property
    def waiting(self) -> int:
        counts = [each["waiting"] for each in self.depths] + [each["entries"] for each in self.streams.values()]
        return sum(counts)


class Pulse:
    """Takes samples while somebody looks. `stop` ends every stream."""

    def __init__(self) -> None:
        self.watchers = 0
        self._stopping = asyncio.Event()
        self._taking = asyncio.Lock()
        self._taken = (-EVERY_S, Sample())

    def stop(self) -> None:
        self._stopping.set()

    async def sample(self, services: Services) -> Sample:
        """The newest sample, taken anew if it is older than EVERY_S."""
        async with self._taking:
            at, known = self._taken
            if time.monotonic() - at < EVERY_S * 0.9:
                return known
            fresh = await _take(services)
            self._taken = (time.monotonic(), fresh)
            return fresh

    async def stream(self, services: Services, render: Callable[[Sample], dict[str, str]]) -> AsyncIterator[str]:
        """Server-sent events: each piece of the page when it has changed. Ends when the service stops."""
        sent: dict[str, str] = {}
        self.watchers += 1
        try:
            while not self._stopping.is_set():
                for name, html in render(await self.sample(services)).items():
                    if sent.get(name) != html:
                        sent[name] = html
                        yield _event(name, html)
                yield ":\n\n"  # a sign of life, by which a vanished browser is noticed
                await self._pause()
        finally:
            self.watchers -= 1

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(EVERY_S):
                await self._stopping.wait()
        except TimeoutError:
            pass


async def _take(services: Services) -> Sample:
    found: dict[str, Any] = {}
    troubles = []
    for ask in (_ask_store, _ask_queue):
        try:
            found |= await ask(services)
        except NextLevelError as error:
            troubles.append(str(error))
    return Sample(**found, recall=services.journal.figures(), troubles=tuple(troubles))


async def _ask_store(services: Services) -> dict[str, Any]:
    async with services.db.pipeline() as conn:
        await queues.limit_time(conn)
        return {
            "depths": await queues.depths(conn),
            "flow": await queues.flow(conn, slot_s=_SLOT_S, slots=_SLOTS),
            "ended": await queues.ended(conn),
            "dead": (await letters.count(conn, letters.Chosen(), most=COUNTED + 1)).letters,
            "latest": await letters.page(conn, letters.Chosen(), limit=_NEWEST_LETTERS),
            "installations": await status.installations(conn),
        }


async def _ask_queue(services: Services) -> dict[str, Any]:
    found = await inspect.snapshot(services.redis)
    return {"streams": found["streams"], "workers": found["workers"]}


def _event(name: str, html: str) -> str:
    lines = "\n".join(f"data: {line}" for line in html.splitlines() or [""])
    return f"event: {name}\n{lines}\n\n"
