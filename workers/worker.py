"""One worker process: ingest, the three stages, the reconciler and the chores, in one event loop."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TypeVar
from uuid import UUID

from nextlevel import log, redis_client
from nextlevel.embedding import Embedding
from nextlevel.errors import QueueUnreachable, Transient
from nextlevel.inference import open_cheaper, open_judge, open_llm
from nextlevel.queue import stages
from nextlevel.queue.stages import Stages
from nextlevel.settings import Settings
from nextlevel.store import migrate, turns
from nextlevel.store.pool import Database

from . import jobs
from .context import WorkerContext
from .ingest import Ingest
from .passages import keep_indexed
from .upkeep import Reconciler, chores, say_alive

PARTS = ("ingest", *jobs.STAGES)

_LONGEST_PAUSE_S = 5.0

T = TypeVar("T")

_log = log.get("workers")


async def run(settings: Settings, *, only: Collection[str] = PARTS) -> None:
    """Work until SIGTERM or SIGINT, with some of the parts or all. Stores that are not there yet are waited for."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    stopped = asyncio.create_task(stop.wait())
    working = asyncio.create_task(_work(settings, only))
    await asyncio.wait({stopped, working}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working


async def _work(settings: Settings, only: Collection[str]) -> None:
    embeds = "store" in only  # which alone needs the embedder: the model's memory is not paid elsewhere
    async with opened(settings, embeds=embeds) as (ctx, wakers):
        await work(ctx, wakers, only)


async def work(ctx: WorkerContext, wakers: Stages, only: Collection[str] = PARTS) -> None:
    """Run some of the parts, or all, until cancelled."""
    process = f"{socket.gethostname()}-{os.getpid()}"
    async with asyncio.TaskGroup() as group:
        for name in jobs.STAGES:
            if name in only:
                group.create_task(_stage(ctx, ctx.settings, name), name=name)
        if "ingest" in only:
            group.create_task(Ingest(ctx, process).run(), name="ingest")
        if "store" in only:
            group.create_task(keep_indexed(ctx), name="passages")
        # In each worker, whatever else it does: as long as one lives, nothing waits unseen.
        group.create_task(Reconciler(ctx, wakers).run(), name="reconciler")
        group.create_task(chores(ctx), name="chores")
        group.create_task(say_alive(ctx, process, only), name="alive")
        if ctx.embedding is not None:
            group.create_task(ctx.embedding.follow(ctx.take_up), name="embedding")
        _log.info("working", process=process, parts=list(only), concurrency=ctx.settings.stage_concurrency)


@asynccontextmanager
async def opened(settings: Settings, *, embeds: bool = True) -> AsyncIterator[tuple[WorkerContext, Stages]]:
    """A worker's context and queue, open; both stores are waited for."""
    if settings.accept_unenrolled is None:
        settings = settings.model_copy(update={"accept_unenrolled": settings.embedded})
    async with AsyncExitStack() as stack:
        dsn, url = settings.need_postgres(), settings.need_redis()
        await _patiently(lambda: migrate.check(dsn))
        db = await _patiently(lambda: Database.connect(dsn, max_size=3 * settings.stage_concurrency))
        stack.push_async_callback(db.close)
        wakers = await _patiently(lambda: Stages.connect(url))
        stack.push_async_callback(wakers.close)
        client = redis_client.connect(url)
        stack.push_async_callback(client.aclose)
        embedding = Embedding(settings, db) if embeds else None
        if embedding is not None:
            stack.push_async_callback(embedding.close)
            await _look(embedding)
        llm, cheaper_llm, judge = open_llm(settings), open_cheaper(settings), open_judge(settings)
        for each in (llm, cheaper_llm, judge):
            if each is not None:
                stack.push_async_callback(each.close)
        embedder = None if embedding is None else embedding.current
        yield WorkerContext(settings, db, client, wakers, embedder, llm, cheaper_llm, judge, embedding), wakers


async def _stage(ctx: WorkerContext, settings: Settings, name: str) -> None:
    """Run one stage for ever; when Redis goes away under it, begin again."""
    pause = 0.1
    while True:
        try:
            await stages.work(
                settings.need_redis(),
                name,
                partial(jobs.arq_job, name),
                {"worker": ctx},
                concurrency=settings.stage_concurrency,
                limit_s=jobs.LIMIT_S + jobs.ANSWERS * settings.llm_timeout_s,
            )
        except QueueUnreachable as error:
            _log.warning("stage_waits", stage=name, pause_s=pause, error=str(error))
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE_S, pause * 2)


async def run_isolated(settings: Settings, tenant_id: UUID, turn_id: str) -> None:
    """Take one turn through what is left of its stages, alone in this process: if it kills it, it kills nobody else."""
    async with opened(settings) as (ctx, _):
        for name, stage in jobs.STAGES.items():
            async with ctx.db.pipeline() as conn:
                ready = [
                    each
                    for each in await turns.ready(conn, stage.takes, limit=1000, gap_wait_s=0)
                    if each.id == turn_id
                ]
            if ready:
                await jobs.run(ctx, name, tenant_id, turn_id, ready[0].fence)


async def _patiently(attempt: Callable[[], Awaitable[T]]) -> T:
    pause = 0.1
    while True:
        try:
            return await attempt()
        except Transient as error:
            _log.warning("store_waits", pause_s=pause, error=str(error))
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE_S, pause * 2)


async def _look(embedding: Embedding) -> None:
    """Ask once which embedder is in use, so that the first turn has one; a model that is away is looked for later."""
    try:
        await embedding.look()
    except Transient as error:
        _log.warning("no_embedder", error=str(error))
