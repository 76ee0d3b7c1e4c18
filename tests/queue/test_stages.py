"""Waking a stage: once for each fence, however often it is asked."""

import asyncio
from uuid import uuid4

import pytest

from nextlevel.errors import QueueUnreachable
from nextlevel.queue import stages
from nextlevel.queue.stages import Stages


async def run_worker(url, stage, job, until):
    task = asyncio.create_task(stages.work(url, stage, job, {}, concurrency=2, limit_s=60))
    async with asyncio.timeout(20):
        await until.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_stage_of_a_turn_is_queued_once_for_each_fence(valkey):
    queue, tenant = await Stages.connect(valkey.url), uuid4()
    assert await queue.wake("extract", tenant, "home:1", 0)
    assert not await queue.wake("extract", tenant, "home:1", 0)
    assert await queue.wake("extract", tenant, "home:1", 1)
    assert {"extract": 2, "link": 0, "store": 0} == await queue.depths()
    await queue.close()


async def test_a_job_gets_what_was_queued_and_may_be_queued_again_afterwards(valkey):
    """arq keeps a result by default, which blocks the id: a turn would wait an hour."""
    queue, tenant = await Stages.connect(valkey.url), uuid4()
    got, twice = [], asyncio.Event()

    async def job(ctx, *args):
        got.append(args)
        if len(got) == 1:
            raise RuntimeError("a job's failure must not block its id either")
        twice.set()
        return "done"

    await queue.wake("link", tenant, "home:1", 3)
    running = asyncio.create_task(run_worker(valkey.url, "link", job, twice))
    async with asyncio.timeout(20):
        while not await queue.wake("link", tenant, "home:1", 3):
            await asyncio.sleep(0.02)
    await running
    assert [(str(tenant), "home:1", 3)] * 2 == got
    await queue.close()


async def test_a_redis_that_is_away_is_a_transient_error(tmp_path):
    with pytest.raises(QueueUnreachable):
        await Stages.connect(f"unix://{tmp_path}/nobody.sock")
