"""Ways to ask: round by round, as questions come by chance, and all clients without a pause."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from ..agents import Agent, Asked

LEFT_ALONE_S = 5.0

Question = Callable[[], str]


async def calmly(agent: Agent, query: str) -> Asked:
    """Ask; where three answers in a row were late and the plugin leaves the service alone, wait that out.

    Else the plugin's refusals, a millisecond each, would be most of what is measured.
    """
    found = await agent.prefetch(query)
    if "left alone" in found.why:
        await asyncio.sleep(LEFT_ALONE_S)
    return found


async def rounds(
    steps: Sequence[Callable[[str], Awaitable[None]]], question: Question, most: int, within_s: float
) -> None:
    """Take every step in each round, in any order, with that round's question."""
    ends, shuffled = time.monotonic() + within_s, list(steps)
    for _ in range(most):
        if time.monotonic() > ends:
            break
        random.shuffle(shuffled)
        query = question()
        for step in shuffled:
            await step(query)


async def arrivals(crowd: Sequence[Agent], question: Question, rate: float, for_s: float) -> list[Asked]:
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

    ends = time.monotonic() + for_s
    async with asyncio.TaskGroup() as group:
        tasks = []
        while time.monotonic() < ends:
            tasks.append(group.create_task(ask(question())))
            await asyncio.sleep(random.expovariate(rate))
    return [task.result() for task in tasks]


async def without_pause(crowd: Sequence[Agent], question: Question, most: int, within_s: float) -> list[Asked]:
    """Every client asks again as soon as it is answered."""
    ends = time.monotonic() + within_s

    async def one(agent: Agent) -> list[Asked]:
        found: list[Asked] = []
        while len(found) < most and time.monotonic() < ends:
            found.append(await calmly(agent, question()))
        return found

    return [asked for found in await asyncio.gather(*map(one, crowd)) for asked in found]
