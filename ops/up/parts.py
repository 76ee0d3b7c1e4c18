"""The parts of the process tree, and the rule that keeps each running: whatever ends is started again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from nextlevel import log
from nextlevel.errors import NextLevelError

from .postgres import Postgres
from .process import open_log
from .valkey import Valkey

FIRST_DELAY_S, LONGEST_DELAY_S = 0.5, 10.0
CALM_S = 30.0  # a part that ran this long ended for a new reason: the delays begin anew
STORE_POLL_S = 0.2
ROLE_STOPS_WITHIN_S = 6.0  # a role promises five

logger = log.get("up")


class Part(Protocol):
    """Something that `up` keeps running."""

    name: str

    async def start(self) -> None: ...

    async def ended(self) -> str:
        """Wait until it is gone, and say how it went."""
        ...

    async def stop(self) -> None:
        """Also fine where it never started or is gone."""
        ...


ServerT = TypeVar("ServerT", bound=Postgres | Valkey)


class Store(Generic[ServerT]):
    """An embedded server as a part."""

    def __init__(self, name: str, start: Callable[[], ServerT]) -> None:
        self.name = name
        self._start = start
        self._server: ServerT | None = None

    @property
    def server(self) -> ServerT:
        if self._server is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._server

    async def start(self) -> None:
        starting = asyncio.create_task(asyncio.to_thread(self._start))
        try:
            self._server = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The thread can't be cancelled. Without this wait it would start a server that nobody stops.
            self._server = await starting
            raise

    async def ended(self) -> str:
        while self._server is not None and self._server.alive():  # noqa: ASYNC110 - nobody could set an event
            await asyncio.sleep(STORE_POLL_S)  # polled, since an attached server is not our child
        return "it ended by itself or was killed"

    async def stop(self) -> None:
        if self._server is not None:
            await asyncio.to_thread(self._server.stop)


@dataclass(frozen=True, slots=True)
class RoleSpec:
    """A role: its module, and how much it gives way to others (0 not at all, 19 most)."""

    name: str
    module: str
    niceness: int = 0


class Role:
    """A role's process as a part; what it prints goes to its log."""

    def __init__(self, spec: RoleSpec, environment: Mapping[str, str], log_file: Path) -> None:
        self.name = spec.name
        self.log_file = log_file
        self.ends = 0
        self._spec, self._environment = spec, environment
        self._child: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.pid

    async def start(self) -> None:
        argv = ["-m", "nextlevel.ops.up.role", self._spec.module, str(self._spec.niceness)]
        with open_log(self.log_file) as sink:
            # In a session of its own: the terminal's Ctrl-C reaches only `up`, which then stops all in order.
            self._child = await asyncio.create_subprocess_exec(
                sys.executable,
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=sink,
                stderr=sink,
                env=self._environment,
                start_new_session=True,
            )

    async def ended(self) -> str:
        if self._child is None:
            return "it was never started"
        code = await self._child.wait()
        self.ends += 1
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"

    async def stop(self) -> None:
        child = self._child
        if child is None or child.returncode is not None:
            return
        with suppress(ProcessLookupError):  # it ended just now
            child.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(child.wait(), ROLE_STOPS_WITHIN_S)
        except TimeoutError:
            logger.warning("role_killed", part=self.name, after_s=ROLE_STOPS_WITHIN_S)
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            await child.wait()


async def keep(part: Part) -> None:
    """Start a part again whenever it ends: after 0.5 s, then twice as long each time, at most 10 s. Until cancelled."""
    delay = FIRST_DELAY_S
    while True:
        since = time.monotonic()
        how = await part.ended()
        if time.monotonic() - since >= CALM_S:
            delay = FIRST_DELAY_S
        logger.warning("part_ended", part=part.name, how=how, again_in_s=delay)
        await asyncio.sleep(delay)
        delay = min(2 * delay, LONGEST_DELAY_S)
        try:
            await part.start()
        except (NextLevelError, OSError) as error:
            logger.error("part_not_started", part=part.name, reason=str(error))
        else:
            logger.info("part_started", part=part.name)
