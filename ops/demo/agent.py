"""The agent of the demo: a process of its own, as Hermes would be, that drives the real provider."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nextlevel.errors import Permanent

from .month import Line

ANSWER_WITHIN_S = 30.0
ENDS_WITHIN_S = 5.0
LONGEST_LINE = 2**20


class AgentFailed(Permanent):
    """The demo's agent ended or refused a turn; its log says why."""


@dataclass(frozen=True, slots=True)
class Prefetched:
    """Which rung of the plugin's ladder answered, and how long the turn was held up."""

    rung: str
    ms: float


class Agent:
    """Asks one thing at a time; each answer is a JSON object."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process, self._log = process, log
        self._lock = asyncio.Lock()

    async def tell(self, line: Line, cwd: Path) -> str:
        """Hand one turn to the plugin: "kept", or "known" where it was told before."""
        turn = {
            "session": line.session,
            "user": line.user,
            "assistant": line.assistant,
            "tools": line.tools,
            "at": line.at,
            "cwd": str(cwd),
            "occurrence": line.occurrence,
        }
        return str((await self._ask("turn", **turn))["outcome"])

    async def prefetch(self, session: str, query: str) -> Prefetched:
        """Have the plugin recall, as before a turn."""
        answer = await self._ask("prefetch", session=session, query=query)
        return Prefetched(str(answer["rung"]), float(answer["ms"]))

    async def waiting(self) -> int:
        """Turns on the agent's disk of which Postgres has not yet told that it holds them."""
        return int((await self._ask("waiting"))["waiting"])

    async def _ask(self, do: str, **fields: Any) -> dict[str, Any]:
        # To its end, also where nobody waits any longer: an answer left behind would be taken for the next one.
        return await asyncio.shield(asyncio.ensure_future(self._exchange(do, **fields)))

    async def _exchange(self, do: str, **fields: Any) -> dict[str, Any]:
        assert self._process.stdin is not None  # noqa: S101 - both are pipes, see `started`
        assert self._process.stdout is not None  # noqa: S101
        async with self._lock:
            try:
                self._process.stdin.write(json.dumps({"do": do, **fields}).encode() + b"\n")
                raw = await asyncio.wait_for(self._process.stdout.readline(), ANSWER_WITHIN_S)
            except (OSError, TimeoutError) as error:
                raise AgentFailed(f"the agent does not answer ({error}): see {self._log}") from error
        answer: dict[str, Any] = json.loads(raw) if raw else {"error": "it ended"}
        if "error" in answer:
            raise AgentFailed(f"the agent failed ({answer['error']}): see {self._log}")
        return answer


@asynccontextmanager
async def started(hermes_home: Path, log: Path) -> AsyncIterator[Agent]:
    """An agent with its home, for as long as the block runs."""
    with log.open("ab") as sink:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "nextlevel.producers.replay", str(hermes_home)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=sink,
            limit=LONGEST_LINE,
            start_new_session=True,  # the terminal's Ctrl-C is ours to handle
        )
    try:
        yield Agent(process, log)
    finally:
        await _end(process)


async def install_plugin(hermes_home: Path) -> None:
    """Write the plugin into a home and enrol it, by the command that a person would use.

    Raises:
        AgentFailed: the command refused; its words are the message.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from nextlevel.ops.cli import main; main()", "hermes", "install"),
        env={**os.environ, "HERMES_HOME": str(hermes_home)},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        told, _ = await asyncio.wait_for(process.communicate(), ANSWER_WITHIN_S)
    except BaseException:
        await _end(process)
        raise
    if process.returncode != 0:
        raise AgentFailed(f"`nextlevel hermes install` failed:\n{told.decode(errors='replace')}")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), ENDS_WITHIN_S)
    except TimeoutError:
        process.kill()
        await process.wait()
