"""What keeps the pipeline whole: the reconciler, which finds what can run and wakes it; and the slow chores.

The reconciler is no job: it must not wait in a queue that it should free. It runs in every worker process; a job's id
carries the fence, so that two of them wake a stage once.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

import orjson

from nextlevel import log, receipts
from nextlevel.cache import publish_generations
from nextlevel.errors import EmbedderUnavailable, Transient
from nextlevel.queue import names
from nextlevel.queue.stages import Stages
from nextlevel.redis_client import translated
from nextlevel.store import recalls, scopes, turns
from nextlevel.store.turns import Ready

from . import vectors
from .consolidate import consolidate
from .context import WorkerContext
from .digests import digest_sessions
from .expiry import expire_outlived
from .habits import learn_habits
from .jobs import ANSWERS, ISOLATED_FROM, MOST_CRASHES, STAGES

LOOK_EVERY_S = 1.0
_BREATH_S = 0.02
_BELIEVE_S = 5.0  # how long a job is believed to be queued: a Redis that was wiped costs as much
_MOST_WOKEN = 10_000
CHORES_EVERY_S = 60.0
CLEAN_EVERY_S = 24 * 3600.0
HOURLY_S = 3600.0
_LIVE_FOR_S = 15
_ISOLATED_LIMIT_S = 300

_log = log.get("upkeep")


@dataclass(slots=True)
class Reconciler:
    """Wakes what can run: at once when something may have become ready, and once a second in any case.

    arq holds at most twice a stage's concurrency: the backlog stays in Postgres, where it has an order.
    """

    ctx: WorkerContext
    stages: Stages
    isolating: set[str] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    woken: dict[tuple[str, str, int], float] = field(default_factory=dict)  # when, so that Redis is not asked each time

    async def run(self) -> None:
        """Look until cancelled; a store that is away is looked for again."""
        while True:
            try:
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self.ctx.ready.wait()
            except TimeoutError:
                pass
            self.ctx.ready.clear()
            try:
                await self.look()
            except Transient as error:
                _log.warning("reconciler_waits", error=str(error))
                await asyncio.sleep(LOOK_EVERY_S)
            await asyncio.sleep(_BREATH_S)  # what becomes ready meanwhile is seen in one look

    async def look(self) -> int:
        """Wake what can run now, as far as the stages have room. Returns how many were woken."""
        depths = await self.stages.depths()
        woken = 0
        for name, stage in STAGES.items():
            room = 2 * self.ctx.settings.stage_concurrency - depths[name]
            if room <= 0:
                continue
            async with self.ctx.db.pipeline() as conn:
                found = await turns.ready(conn, stage.takes, limit=room, gap_wait_s=self.ctx.settings.gap_wait_s)
            for turn in found:
                woken += await self._wake(name, turn)
        return woken

    async def _wake(self, stage: str, turn: Ready) -> bool:
        if ISOLATED_FROM <= turn.crashes < MOST_CRASHES:
            return self._isolate(turn)
        now, job = time.monotonic(), (stage, turn.id, turn.fence)
        if now - self.woken.get(job, -_BELIEVE_S) < _BELIEVE_S:
            return False
        if len(self.woken) >= _MOST_WOKEN:
            self.woken.clear()
        self.woken[job] = now
        return await self.stages.wake(stage, turn.tenant_id, turn.id, turn.fence)

    def _isolate(self, turn: Ready) -> bool:
        """Run a turn that killed two workers in a process of its own, one at a time."""
        if self.isolating:
            return False
        self.isolating.add(turn.id)
        task = asyncio.create_task(self._run_isolated(turn))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return True

    async def _run_isolated(self, turn: Ready) -> None:
        _log.warning("turn_isolated", turn_id=turn.id, crashes=turn.crashes)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "nextlevel.workers", "--isolated", str(turn.tenant_id), turn.id
        )
        try:
            async with asyncio.timeout(_ISOLATED_LIMIT_S + ANSWERS * self.ctx.settings.llm_timeout_s):
                await process.wait()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            self.isolating.discard(turn.id)
        self.ctx.ready.set()


async def chores(ctx: WorkerContext) -> None:
    """Each minute: rewrite receipts, tell the caches what they missed, embed what waits, digest idle sessions, let
    expire what is outlived, merge what stands side by side. Each hour: learn habits. Each day: clean up.
    """
    clock = asyncio.get_running_loop()
    next_cleaning = next_hourly = clock.time()
    while True:
        for chore in _EACH_MINUTE:
            await _attempt(chore, ctx)
        if clock.time() >= next_hourly:
            await _attempt(learn_habits, ctx)
            next_hourly = clock.time() + HOURLY_S
        if clock.time() >= next_cleaning:
            await _attempt(prune_recalls, ctx)
            next_cleaning = clock.time() + CLEAN_EVERY_S
        await asyncio.sleep(CHORES_EVERY_S)


async def _attempt(chore: Callable[[WorkerContext], Awaitable[object]], ctx: WorkerContext) -> None:
    try:
        await chore(ctx)
    except (Transient, EmbedderUnavailable) as error:
        _log.warning("chore_waits", chore=chore.__name__, error=str(error))


async def _rewrite_receipts(ctx: WorkerContext) -> None:
    async with ctx.db.pipeline() as conn:
        installs = await turns.seen_lately(conn)
    await receipts.publish(ctx.db, ctx.redis, installs)


async def _republish_generations(ctx: WorkerContext) -> None:
    async with ctx.db.pipeline() as conn:
        await publish_generations(ctx.redis, await scopes.generations(conn))


async def prune_recalls(ctx: WorkerContext) -> int:
    """Let go of recalls that are too old or too many; how many went."""
    async with ctx.db.pipeline() as conn:
        return await recalls.prune(conn)


async def embed_waiting(ctx: WorkerContext) -> int:
    """Make the vectors of blocks that were stored while the embedder was down. Returns how many."""
    embedder = ctx.embedder
    if embedder is None:
        return 0
    async with ctx.db.pipeline() as conn:
        waiting = await scopes.without_vectors(conn, embedder.model)
    made = 0
    for scope in waiting:
        count, generations = await vectors.of_blocks(ctx.db, embedder, scope, tell=True)
        await publish_generations(ctx.redis, generations)
        made += count
    return made


_EACH_MINUTE: tuple[Callable[[WorkerContext], Awaitable[object]], ...] = (
    _rewrite_receipts,
    _republish_generations,
    embed_waiting,
    digest_sessions,
    expire_outlived,
    consolidate,
)


async def say_alive(ctx: WorkerContext, process: str, parts: Collection[str]) -> None:
    """Every five seconds: this worker lives, with these parts. The key dies with it after fifteen."""
    while True:
        facts = orjson.dumps({"role": "work", "pid": os.getpid(), "parts": list(parts)})
        try:
            with translated():
                await ctx.redis.set(names.live(process), facts, ex=_LIVE_FOR_S)
        except Transient as error:
            _log.debug("alive_unsaid", error=str(error))
        await asyncio.sleep(_LIVE_FOR_S / 3)
