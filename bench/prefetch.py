"""How long does recall hold up a turn?

From the plugin's `prefetch`, in agents that are processes of their own, over HTTP to the real service on embedded
stores. HIT: the same question of the same memory again. MISS: a question never asked before, embedded for real. Floors
in the same rounds: a bare Redis GET and a bare Postgres round trip. Beside the scope that is asked stand ten others.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import asyncpg
from redis.asyncio import Redis

from nextlevel.auth import secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.errors import Transient
from nextlevel.inference import open_embedder
from nextlevel.ops.up import tree
from nextlevel.settings import Endpoints, Settings

from . import ground
from .agents import Agent, Asked, agents
from .common import TIMES, Report, Times, arguments, run, table
from .scopes import Memory, fill
from .talk import Talk

BESIDE = 10
CLIENTS = 8
FLOOR_KEY = "nl:bench:floor"
READY_WITHIN_S, HOT_WITHIN_S = 120.0, 20.0
PAUSE_S = 0.02
LEFT_ALONE_S = 5.0
SLOWEST_MS = 100.0
ROLES = tuple(role for role in tree.ROLES if role.name in {"serve", "work"})


class NotServed(Transient):
    """The service does not answer as it should be able to by now."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is asked in each part."""

    rounds: int  # of one client: a hit, a miss and both floors each
    crowded: int  # questions of each of eight clients, hits and misses each
    arrivals_s: float  # how long questions arrive by chance
    cold: int  # scopes that are asked for the first time
    known: int  # questions that are asked again and again
    at_most_s: float  # of one client or of eight: a service that is often late would take for ever

    @classmethod
    def of(cls, quick: bool) -> Effort:
        return cls(10, 3, 2.0, 1, 3, 10.0) if quick else cls(300, 60, 40.0, 5, 40, 90.0)


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    os.environ["OMP_NUM_THREADS"] = "1"  # as in each of our processes, see ops/up/tree.py
    effort = Effort.of(options.quick)
    sizes = [100] if options.quick else options.blocks
    beside = 100 if options.quick else options.beside
    figures: dict[str, Any] = {"beside": {"scopes": BESIDE, "blocks": beside}}
    with ground.directory() as root:
        async with ground.running(root, report, ROLES) as (settings, endpoints):
            memories = [Memory(f"scope{size}", size) for size in sizes]
            memories += [Memory(f"beside{number}", beside) for number in range(BESIDE)]
            await _fill(memories, endpoints, report, options.seed)
            scene = Scene(root, settings, endpoints, report, Talk(options.seed), effort)
            async with scene.open():
                for size in sizes:
                    figures[f"{size} blocks"] = await scene.measure(size, f"scope{size}")
                figures["cold"] = await scene.cold(beside, [f"beside{number}" for number in range(effort.cold)])
    _judge(figures, max(size for size in sizes if size <= 10_000) if min(sizes) <= 10_000 else min(sizes), report)
    return figures


async def _fill(memories: Sequence[Memory], endpoints: Endpoints, report: Report, seed: int) -> None:
    report.say(f"filling {len(memories)} scopes with {sum(memory.blocks for memory in memories)} blocks")
    embedder = open_embedder(Settings())
    try:
        await fill(endpoints.postgres_dsn, endpoints.postgres_admin_dsn or "", embedder, memories, seed=seed)
    finally:
        await embedder.close()
    report.say("filled")


class Scene:
    """The running service, and what is asked of it."""

    def __init__(
        self, root: Path, settings: Settings, endpoints: Endpoints, report: Report, talk: Talk, effort: Effort
    ) -> None:
        self._root, self._settings, self._endpoints = root, settings, endpoints
        self._report, self._talk, self._effort = report, talk, effort

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        self._postgres = await asyncpg.connect(self._endpoints.postgres_dsn)
        async with Redis.from_url(self._endpoints.redis_url) as redis:
            await redis.set(FLOOR_KEY, self._talk.prose(2_000))
            try:
                yield
            finally:
                await self._postgres.close()

    async def measure(self, size: int, install: str) -> dict[str, Any]:
        async with agents(self._home(install), CLIENTS) as crowd:
            self._report.say(f"{size} blocks: warming up")
            known = [self._talk.question() for _ in range(self._effort.known)]
            await self._prepare(install, crowd[0], known)
            first = await self._first(crowd, known)
            self._report.say(f"{size} blocks: one client")
            floors, hit, miss = await self._alone(crowd[0], known)
            self._report.say(f"{size} blocks: arrivals by chance")
            arrivals = {rate: await self._arrivals(crowd, rate) for rate in (5, 10)}
            self._report.say(f"{size} blocks: {CLIENTS} clients")
            crowded_hit = await self._crowd(crowd, lambda: random.choice(known))  # noqa: S311
            crowded_miss = await self._crowd(crowd, self._talk.question)
        series = {
            "HIT with the opening brief": first,
            **{"HIT, 1 client": hit, f"HIT, {CLIENTS} clients": crowded_hit, "MISS, 1 client": miss},
            **{f"MISS, {rate}/s by chance": found for rate, found in arrivals.items()},
            f"MISS, {CLIENTS} clients": crowded_miss,
        }
        _show(size, floors, series)
        return {
            **{name: found.figures() for name, found in floors.items()},
            **{name: _figures(found) for name, found in series.items()},
        }

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
        table(
            f"the first questions of a cold scope of {size} blocks, ms",
            ("", *TIMES, "by the service", "with vectors"),
            [["the first", *_row(first)], ["until it is hot", *_row(until)]],
        )
        return {
            "blocks": size,
            "first": _figures(first),
            "until hot": _figures(until),
            "hot after": Times(built_ms).figures(),
        }

    def _home(self, install: str) -> Path:
        return ground.home(
            self._root,
            install,
            settings=self._settings,
            service_url=self._endpoints.service_url,
            redis_url=self._endpoints.redis_url,
        )

    async def _until_hot(self, agent: Agent) -> list[Asked]:
        """Ask until the service holds the scope in its memory, or for long enough; all that was answered."""
        asked: list[Asked] = []
        ends = time.monotonic() + HOT_WITHIN_S
        while not asked or (asked[-1].service != "hot" and time.monotonic() < ends):
            asked.append(await self._calmly(agent, self._talk.question()))
            await asyncio.sleep(PAUSE_S)
        return asked

    async def _prepare(self, install: str, agent: Agent, known: Sequence[str]) -> None:
        """Make the scope hot, by one who waits, and have answers kept, as the plugin does behind each turn."""
        client = Client(self._endpoints.service_url, token(secret_of(self._settings), install))
        scope, deadline = ScopeName(install=install), time.monotonic() + READY_WITHIN_S
        while (found := (await asyncio.to_thread(client.recall, self._talk.question(), scope)).rung) != "hot":
            if time.monotonic() > deadline:
                raise NotServed(f"the scope is not hot after {READY_WITHIN_S:.0f} s, but {found}")
        for query in known:
            await agent.queue(query)
            while (asked := await agent.prefetch(query)).service != "cache":
                if time.monotonic() > deadline:
                    raise NotServed(f"an answer is not kept; it came from {asked.service or asked.rung}: {asked.why}")
                await asyncio.sleep(PAUSE_S)
                await agent.queue(query)

    async def _first(self, crowd: Sequence[Agent], known: Sequence[str]) -> list[Asked]:
        """Each agent's first turn, for which the opening brief is made: it is due until that turn is complete."""
        first = []
        for agent in crowd:
            await agent.prefetch(known[0])  # its connection, and its interpreter's caches
            first += [await agent.prefetch(query) for query in known[:5]]
            await agent.turn("thanks", "You are welcome.")
        return first

    async def _alone(self, agent: Agent, known: Sequence[str]) -> tuple[dict[str, Times], list[Asked], list[Asked]]:
        taken: dict[str, list[float]] = {"floor: Redis GET": [], "floor: Postgres SELECT 1": []}
        hits: list[Asked] = []
        misses: list[Asked] = []

        async def get() -> None:
            taken["floor: Redis GET"].append(await agent.get(FLOOR_KEY))

        async def select() -> None:
            since = time.perf_counter()
            await self._postgres.fetchval("SELECT 1")
            taken["floor: Postgres SELECT 1"].append(1000 * (time.perf_counter() - since))

        async def hit() -> None:
            hits.append(await self._calmly(agent, random.choice(known)))  # noqa: S311

        async def miss() -> None:
            misses.append(await self._calmly(agent, self._talk.question()))

        steps: list[Callable[[], Awaitable[None]]] = [get, select, hit, miss]
        ends = time.monotonic() + self._effort.at_most_s
        for _ in range(self._effort.rounds):
            if time.monotonic() > ends:
                break
            random.shuffle(steps)
            for step in steps:
                await step()
        return {name: Times(found) for name, found in taken.items()}, hits, misses

    async def _arrivals(self, crowd: Sequence[Agent], rate: float) -> list[Asked]:
        """Questions that come whether or not the one before was answered; who finds no free agent waits for one."""
        free: asyncio.Queue[Agent] = asyncio.Queue()
        for agent in crowd:
            free.put_nowait(agent)

        async def ask(query: str) -> Asked:
            since = time.perf_counter()
            agent = await free.get()
            waited_ms = 1000 * (time.perf_counter() - since)
            found = await agent.prefetch(query)
            free.put_nowait(agent)
            return replace(found, ms=found.ms + waited_ms)

        ends = time.monotonic() + self._effort.arrivals_s
        async with asyncio.TaskGroup() as group:
            tasks = []
            while time.monotonic() < ends:
                tasks.append(group.create_task(ask(self._talk.question())))
                await asyncio.sleep(random.expovariate(rate))
        return [task.result() for task in tasks]

    async def _calmly(self, agent: Agent, query: str) -> Asked:
        """Ask; where three answers in a row were late and the plugin leaves the service alone, wait that out.

        Else the plugin's refusals, a millisecond each, would be most of what is measured.
        """
        found = await agent.prefetch(query)
        if "left alone" in found.why:
            await asyncio.sleep(LEFT_ALONE_S)
        return found

    async def _crowd(self, crowd: Sequence[Agent], question: Callable[[], str]) -> list[Asked]:
        """Every client asks again as soon as it is answered."""

        ends = time.monotonic() + self._effort.at_most_s

        async def one(agent: Agent) -> list[Asked]:
            found: list[Asked] = []
            while len(found) < self._effort.crowded and time.monotonic() < ends:
                found.append(await self._calmly(agent, question()))
            return found

        return [asked for found in await asyncio.gather(*map(one, crowd)) for asked in found]


def _row(asked: Sequence[Asked]) -> list[str]:
    shares = _shares(asked)
    percents = (f"{100 * shares[name]:.1f} %" for name in ("by_service", "with_vectors"))
    return [*Times([each.ms for each in asked]).row(), *percents]


def _shares(asked: Sequence[Asked]) -> dict[str, float]:
    total = max(1, len(asked))
    return {
        "by_service": round(sum(each.rung == "service" for each in asked) / total, 4),
        "with_vectors": round(sum(each.vectors for each in asked) / total, 4),
    }


def _figures(asked: Sequence[Asked]) -> dict[str, Any]:
    return {
        **Times([each.ms for each in asked]).figures(),
        "service_p50_ms": round(Times([each.service_ms for each in asked if each.service]).p50, 3),
        **_shares(asked),
        "rungs": dict(Counter(each.service or each.rung for each in asked)),
    }


def _show(size: int, floors: dict[str, Times], series: dict[str, list[Asked]]) -> None:
    get = floors["floor: Redis GET"].p50
    rows = [[name, *found.row(), "", "", f"{found.p50 / get:.1f}"] for name, found in floors.items()]
    rows += [[name, *_row(a), f"{Times([e.ms for e in a]).p50 / get:.1f}"] for name, a in series.items()]
    columns = ("", *TIMES, "by the service", "with vectors", "p50 ÷ GET")
    table(f"prefetch, {size} blocks in the scope, ms", columns, rows)


def _judge(figures: dict[str, Any], size: int, report: Report) -> None:
    found = figures[f"{size} blocks"]
    hit, miss = found["HIT, 1 client"], found["MISS, 1 client"]
    report.goal(f"{size} blocks, 1 client: HIT p99 in ms", hit["p99_ms"], most=SLOWEST_MS)
    report.goal(f"{size} blocks, 1 client: MISS p99 in ms", miss["p99_ms"], most=SLOWEST_MS)
    # A ladder that gives up in time is fast as well.
    report.goal(f"{size} blocks, 1 client: HITs by the service", hit["by_service"], least=0.95)
    report.goal(f"{size} blocks, 1 client: MISSes by the service", miss["by_service"], least=0.95)
    calm = found["MISS, 5/s by chance"]
    report.stretch(f"{size} blocks: HIT p99 in ms", hit["p99_ms"], most=5)
    report.stretch(f"{size} blocks, 5/s: MISS p50 in ms", calm["p50_ms"], most=40)
    report.stretch(f"{size} blocks, 5/s: MISS p99 in ms", calm["p99_ms"], most=100)
    report.stretch(f"{size} blocks, 5/s: share with vectors", calm["with_vectors"], least=0.95)
    report.stretch(f"{size} blocks, 10/s: MISS p99 in ms", found["MISS, 10/s by chance"]["p99_ms"], most=100)
    report.stretch(
        f"{size} blocks, {CLIENTS} clients: MISS p99 in ms", found[f"MISS, {CLIENTS} clients"]["p99_ms"], most=100
    )


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--blocks", type=int, nargs="+", default=[1_000, 10_000], help="sizes of the scope asked")
    parser.add_argument("--beside", type=int, default=10_000, help="blocks in each of the ten scopes beside it")
    sys.exit(run("prefetch", bench, parser))
