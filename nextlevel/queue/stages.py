"""The arq queues that spread and wake the stages: all of arq is behind this module.

arq's own promises are not relied on: a job's id carries the fence it expects, so queueing it twice is harmless, and
losing it costs only the wait until the reconciler queues it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, cast
from uuid import UUID

import orjson
from arq.connections import ArqRedis, RedisSettings
from arq.connections import create_pool as _create_pool
from arq.worker import Worker, func
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from nextlevel.redis_client import translated

from .names import STAGES, stage_queue

if TYPE_CHECKING:
    from arq.typing import WorkerCoroutine

_GRACE_S = 3
_KEEP_QUEUED_MS = 30 * 24 * 3600 * 1000  # arq drops what is older; the default of a day loses a long weekend

StageJob = Callable[[dict[str, Any], str, str, int], Coroutine[Any, Any, str]]


class StageQueue(Protocol):
    """What a job needs to wake the next stage."""

    async def wake(self, stage: str, tenant_id: UUID, turn_id: str, fence: int) -> bool: ...


class Stages:
    """Wakes stages; one per process. Open with `connect`."""

    def __init__(self, pool: ArqRedis) -> None:
        self._pool = pool

    @classmethod
    async def connect(cls, url: str) -> Stages:
        with translated():
            return cls(await _pool(url))

    async def close(self) -> None:
        await self._pool.aclose()

    async def wake(self, stage: str, tenant_id: UUID, turn_id: str, fence: int) -> bool:
        """Queue one stage of one turn. False: this very job is queued or running already."""
        with translated():
            job = await self._pool.enqueue_job(
                stage,
                str(tenant_id),
                turn_id,
                fence,
                _job_id=f"{stage}:{turn_id}:{fence}",
                _queue_name=stage_queue(stage),
            )
        return job is not None

    async def depths(self) -> dict[str, int]:
        """How many jobs each stage's queue holds, running ones included."""
        with translated():
            return {stage: await self._pool.zcard(stage_queue(stage)) for stage in STAGES}


async def work(
    url: str, stage: str, job: StageJob, context: dict[str, Any], *, concurrency: int, limit_s: float
) -> None:
    """Run one stage's jobs until cancelled. Jobs in hand get 3 s to end; those that don't stay queued.

    `limit_s` bounds a job, and how long arq hides that of a killed worker; the lease, shorter, is what counts.

    Raises:
        QueueUnreachable: Redis went away for longer than arq bears; begin again.
    """
    with translated():
        worker = _worker(await _pool(url), stage, job, context, concurrency, limit_s)
        running = asyncio.create_task(worker.async_run())
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError:
            await _end(worker, running)
            raise
        finally:
            with suppress(RedisError, OSError):  # what is left behind runs out by itself
                await worker.close()


async def _end(worker: Worker, running: asyncio.Task[None]) -> None:
    """Let the round in hand end: cut off in the middle of a command, a connection is lost to its pool."""
    worker.burst, worker.max_burst_jobs = True, 0
    if worker.tasks:
        _, late = await asyncio.wait(list(worker.tasks.values()), timeout=_GRACE_S)
        for task in late:
            task.cancel()
    with suppress(RedisError, OSError):
        await running


def _worker(
    pool: ArqRedis, stage: str, job: StageJob, context: dict[str, Any], concurrency: int, limit_s: float
) -> Worker:
    return Worker(
        functions=[func(cast("WorkerCoroutine", job), name=stage)],
        queue_name=stage_queue(stage),
        redis_pool=pool,
        ctx=context,
        handle_signals=False,
        max_jobs=concurrency,
        job_timeout=limit_s,
        max_tries=1_000_000,  # a worker that is stopped uses up tries; ours are counted in table turns
        keep_result=0,  # a kept result blocks its job id
        poll_delay=0.05,
        health_check_interval=15,
        job_serializer=orjson.dumps,
        job_deserializer=orjson.loads,
        expires_extra_ms=_KEEP_QUEUED_MS,
        log_results=False,
    )


async def _pool(url: str) -> ArqRedis:
    settings = RedisSettings.from_dsn(url)
    settings.conn_retries = 0
    # Without this the worker exits when Redis restarts.
    settings.retry_on_error = [ConnectionError, TimeoutError, OSError]
    settings.retry = Retry(ExponentialBackoff(cap=1, base=0.05), 5)
    return await _create_pool(
        settings, job_serializer=orjson.dumps, job_deserializer=orjson.loads, expires_extra_ms=_KEEP_QUEUED_MS
    )
