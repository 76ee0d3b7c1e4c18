"""The running service, and what is asked of it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
from redis.asyncio import Redis

from nextlevel.auth import secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.errors import Transient
from nextlevel.event import STREAM
from nextlevel.recall.hot_scopes import MOST_BLOCKS
from nextlevel.settings import Endpoints, Settings

from .. import ground
from ..agents import Agent, Asked, agents
from ..common import Report, Times
from ..pipeline import INSTALL, backlog, publish
from ..talk import Talk
from .asking import Question, arrivals, calmly, rounds, without_pause
from .effort import CLIENTS, Effort
from .judge import figures, show
from .peers import Peer

BESIDE = 10
FLOOR_KEY = "nl:bench:floor"
READY_WITHIN_S, HOT_WITHIN_S, KEPT_WITHIN_S = 120.0, 20.0, 3.0
PAUSE_S = 0.02
WAKES = "which port is it?"
"""What is asked of a scope or an agent so that it is awake; measured nowhere."""


class NotServed(Transient):
    """The service does not answer as it should be able to by now."""


class Scene:
    """`question` gives one that was never asked before."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        endpoints: Endpoints,
        report: Report,
        effort: Effort,
        question: Question,
    ) -> None:
        self._root, self._settings, self._endpoints, self._report = root, settings, endpoints, report
        self.effort, self.question = effort, question
        self._homes: dict[str, Path] = {}

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self._postgres = await asyncpg.connect(self._endpoints.postgres_dsn)
        self._admin = await asyncpg.connect(self._endpoints.postgres_admin_dsn)
        async with Redis.from_url(self._endpoints.redis_url) as self._redis:
            await self._redis.set(FLOOR_KEY, "x" * 2_000)
            try:
                yield
            finally:
                await self._postgres.close()
                await self._admin.close()

    async def measure(self, size: int, install: str, peers: Mapping[str, Peer]) -> dict[str, Any]:
        """Everything that is asked of one scope of so many blocks."""
        effort = self.effort
        async with agents(self._home(install), CLIENTS) as crowd:
            self._report.say(f"{size} blocks: warming up")
            asked = [self.question() for _ in range(effort.known)]
            known = await self._prepare(install, size, crowd[0], asked)
            again = partial(random.choice, known) if known else None
            series = {"HIT with the opening brief": await self._first(crowd, known)}
            self._report.say(f"{size} blocks: one client")
            others, hit, miss = await self._alone(crowd[0], again, peers)
            series |= {"HIT, 1 client": hit, "MISS, 1 client": miss}
            for rate in (5, 10):
                self._report.say(f"{size} blocks: {rate} questions a second")
                series[f"MISS, {rate}/s by chance"] = await arrivals(crowd, self.question, rate, effort.arrivals_s)
            self._report.say(f"{size} blocks: {CLIENTS} clients")
            for name, question in (("HIT", again), ("MISS", self.question)):
                found = await without_pause(crowd, question, effort.crowded, effort.at_most_s) if question else []
                series[f"{name}, {CLIENTS} clients"] = found
        show(f"prefetch, {size} blocks in the scope", others, series)
        for name, peer in peers.items():
            self._report.say(f"{name} had lines for {peer.answered} questions, and none for {peer.silent}")
        return {
            **{name: found.figures() for name, found in others.items()},
            **{name: figures(found) for name, found in series.items()},
        }

    async def calm(self, size: int, install: str) -> dict[str, Any]:
        """MISSes of one client, and of questions that come five times a second."""
        async with agents(self._home(install), CLIENTS) as crowd:
            await self._prepare(install, size, crowd[0], [])
            await self._first(crowd, [])
            self._report.say(f"{size} blocks, vectors from an endpoint in 5 ms")
            others, _, miss = await self._alone(crowd[0], None, {})
            series = {
                "MISS, 1 client": miss,
                "MISS, 5/s by chance": await arrivals(crowd, self.question, 5, self.effort.arrivals_s),
            }
        show(f"prefetch, {size} blocks, vectors from an endpoint in 5 ms", others, series)
        return {name: figures(found) for name, found in series.items()}

    async def beside_a_busy_worker(self, size: int, install: str, talk: Talk) -> dict[str, Any]:
        """MISSes five times a second while a worker makes memory of a backlog, which must not end before."""
        async with agents(self._home(install), CLIENTS) as crowd:
            await self._prepare(install, size, crowd[0], [])
            await self._first(crowd, [])
            self._report.say(f"{size} blocks: a backlog of {self.effort.backlog} turns beside it")
            await publish(self._redis, STREAM, backlog(self.effort.backlog, talk))
            found = await arrivals(crowd, self.question, 5, self.effort.arrivals_s)
            ended = await self._admin.fetchval(
                "SELECT count(*) FROM turns WHERE install = $1 AND finished_at IS NOT NULL", INSTALL
            )
        series = {"MISS, 5/s, busy worker": found}
        show(f"prefetch, {size} blocks, while {ended} of {self.effort.backlog} turns became memory", {}, series)
        return {**figures(found), "turns": self.effort.backlog, "ended_meanwhile": ended}

    async def cold(self, size: int, installs: Sequence[str]) -> dict[str, Any]:
        """The first questions of a scope that the service does not hold yet: Postgres answers them."""
        self._report.say(f"cold scopes of {size} blocks")
        first: list[Asked] = []
        until: list[Asked] = []
        built_ms: list[float] = []
        for install in installs:
            async with agents(self._home(install), 1) as (agent,):
                since = time.monotonic()
                asked = await self._until_hot(agent)
                built_ms.append(1000 * (time.monotonic() - since))
                first.append(asked[0])
                until += asked[1:]
        show(
            f"the first questions of a cold scope of {size} blocks", {}, {"the first": first, "until it is hot": until}
        )
        return {
            "blocks": size,
            "first": figures(first),
            "until hot": figures(until),
            "hot after": Times(built_ms).figures(),
        }

    def _home(self, install: str) -> Path:
        if install not in self._homes:
            self._homes[install] = ground.home(
                self._root,
                install,
                settings=self._settings,
                service_url=self._endpoints.service_url,
                redis_url=self._endpoints.redis_url,
            )
        return self._homes[install]

    async def _until_hot(self, agent: Agent) -> list[Asked]:
        """Ask until the service holds the scope in its memory, or for long enough; all that was answered."""
        asked: list[Asked] = []
        ends = time.monotonic() + HOT_WITHIN_S
        while not asked or (asked[-1].service != "hot" and time.monotonic() < ends):
            asked.append(await calmly(agent, self.question()))
            await asyncio.sleep(PAUSE_S)
        return asked

    async def _prepare(self, install: str, size: int, agent: Agent, known: Sequence[str]) -> list[str]:
        """Make the scope hot, by one who waits, and have answers kept, as the plugin does; the questions with one."""
        client = Client(self._endpoints.service_url, token(secret_of(self._settings), install))
        scope, deadline = ScopeName(install=install), time.monotonic() + READY_WITHIN_S
        rung = "hot" if size <= MOST_BLOCKS else "sql"
        while (found := (await asyncio.to_thread(client.recall, WAKES, scope)).rung) != rung:
            if time.monotonic() > deadline:
                raise NotServed(f"{install} is not answered from {rung} after {READY_WITHIN_S:.0f} s, but {found}")
            await asyncio.sleep(PAUSE_S)
        return [query for query in known if await self._is_kept(agent, query)]

    async def _is_kept(self, agent: Agent, query: str) -> bool:
        """Have the answer to a question kept; False where the service does not manage that in time."""
        deadline = time.monotonic() + KEPT_WITHIN_S
        while time.monotonic() < deadline:
            await agent.queue(query)
            if (await agent.prefetch(query)).service == "cache":
                return True
            await asyncio.sleep(PAUSE_S)
        return False

    async def _first(self, crowd: Sequence[Agent], known: Sequence[str]) -> list[Asked]:
        """Each agent's first turn, for which the opening brief is made: it is due until that turn is complete."""
        first = []
        for agent in crowd:
            await agent.prefetch(WAKES)  # its connection, and its interpreter's caches
            first += [await agent.prefetch(query) for query in known[:5]]
            await agent.turn("thanks", "You are welcome.")
        return first

    async def _alone(
        self, agent: Agent, again: Question | None, peers: Mapping[str, Peer]
    ) -> tuple[dict[str, Times], list[Asked], list[Asked]]:
        """One client's HITs (of what `again` gives) and MISSes, with floors and peers in the same rounds."""
        taken: dict[str, list[float]] = {"floor: Redis GET": [], "floor: Postgres SELECT 1": []}
        taken |= {row: [] for name in peers for row in (name, f"{name}, its embedding left out")}
        hits: list[Asked] = []
        misses: list[Asked] = []

        async def get(_: str) -> None:
            taken["floor: Redis GET"].append(await agent.get(FLOOR_KEY))

        async def select(_: str) -> None:
            since = time.perf_counter()
            await self._postgres.fetchval("SELECT 1")
            taken["floor: Postgres SELECT 1"].append(1000 * (time.perf_counter() - since))

        async def hit(_: str) -> None:
            if again is not None:
                hits.append(await calmly(agent, again()))

        async def miss(query: str) -> None:
            misses.append(await calmly(agent, query))

        def of(name: str, peer: Peer) -> Callable[[str], Awaitable[None]]:
            async def prefetch(query: str) -> None:
                ms, embedding_ms = await peer.prefetch(query)
                taken[name].append(ms)
                taken[f"{name}, its embedding left out"].append(ms - embedding_ms)

            return prefetch

        steps = [get, select, hit, miss, *(of(name, peer) for name, peer in peers.items())]
        await rounds(steps, self.question, self.effort.rounds, self.effort.at_most_s)
        return {name: Times(found) for name, found in taken.items()}, hits, misses
