"""Agents as processes of their own, so that none waits for another's interpreter."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nextlevel.errors import Transient

ANSWER_WITHIN_S = 30.0


class AgentGone(Transient):
    """An agent of the bench ended or does not answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One prefetch as the plugin saw it. `rung` is the plugin's, `service` the service's ("": no answer, see `why`)."""

    ms: float
    rung: str
    service: str
    vectors: bool
    service_ms: float
    why: str


class Process:
    """A process that answers lines of JSON, one at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def ask(self, do: str, *, within_s: float = ANSWER_WITHIN_S, **fields: str) -> dict[str, Any]:
        """Its answer to one line.

        Raises:
            AgentGone: it ended, or does not answer in time.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise AgentGone("the agent has no pipes")
        try:
            stdin.write(json.dumps({"do": do, **fields}).encode() + b"\n")
            raw = await asyncio.wait_for(stdout.readline(), within_s)
        except (OSError, TimeoutError) as error:
            raise AgentGone(f"an agent does not answer: {error!r}") from error
        if not raw:
            raise AgentGone("an agent ended; what it said is above")
        answer: dict[str, Any] = json.loads(raw)
        return answer


class Agent(Process):
    """An agent with our plugin."""

    async def prefetch(self, query: str) -> Asked:
        answer = await self.ask("prefetch", query=query)
        told = answer["service"] or {}
        return Asked(
            ms=answer["ms"],
            rung=answer["rung"],
            service=told.get("rung") or "",
            vectors=bool(told.get("vectors")),
            service_ms=told.get("ms") or 0.0,
            why=answer["why"],
        )

    async def queue(self, query: str) -> None:
        await self.ask("queue", query=query)

    async def turn(self, user: str, assistant: str) -> float:
        return float((await self.ask("turn", user=user, assistant=assistant))["ms"])

    async def get(self, key: str) -> float:
        return float((await self.ask("get", key=key))["ms"])


@asynccontextmanager
async def agents(home: Path, count: int) -> AsyncIterator[list[Agent]]:
    """So many agents of one home."""
    async with AsyncExitStack() as stack:
        argv = (sys.executable, "-m", "bench.agent", home)
        yield [Agent(await stack.enter_async_context(process(argv))) for _ in range(count)]


@asynccontextmanager
async def process(
    argv: Sequence[str | Path], environment: Mapping[str, str] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process with pipes to its stdin and stdout, which ends with the block."""
    started = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, **(environment or {})},
    )
    try:
        yield started
    finally:
        if started.stdin is not None:
            started.stdin.close()
        await started.wait()
