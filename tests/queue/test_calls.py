"""A model server is one for all workers: what they may ask of it at once is bounded for all together."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from nextlevel import redis_client
from nextlevel.errors import ModelBusy
from nextlevel.queue import calls


@pytest.fixture
async def worker(valkey):
    client = redis_client.connect(valkey.url)
    yield client
    await client.aclose()


@pytest.fixture
async def other_worker(valkey):
    client = redis_client.connect(valkey.url)
    yield client
    await client.aclose()


def place(client, *, at_once=2, per_minute=None, hold_s=60.0, patience_s=0.0):
    return calls.place(client, at_once=at_once, per_minute=per_minute, hold_s=hold_s, patience_s=patience_s)


async def test_all_workers_together_have_so_many_calls_in_flight(worker, other_worker):
    async with place(worker), place(other_worker):
        with pytest.raises(ModelBusy) as caught:
            async with place(other_worker):
                pass
        assert 0 < caught.value.retry_after_s < 1
    async with place(other_worker):
        pass


async def test_a_call_waits_for_a_place_that_comes_free(worker, other_worker):
    async with AsyncExitStack() as first:
        await first.enter_async_context(place(worker, at_once=1))
        waiting = asyncio.create_task(_through(other_worker))
        await asyncio.sleep(0)
        assert not waiting.done()
        await first.aclose()
    await waiting


async def _through(client):
    async with place(client, at_once=1, patience_s=20):
        pass


async def test_a_worker_that_died_in_a_call_holds_its_place_no_longer_than_a_call_may_take(worker, other_worker):
    """Else a killed worker would lower the bound for ever."""
    dead = place(worker, at_once=1, hold_s=0.2)
    await dead.__aenter__()  # and never leaves
    async with place(other_worker, at_once=1, patience_s=20):
        pass


async def test_so_many_calls_begin_in_a_minute(worker, other_worker):
    for client in (worker, other_worker):
        async with place(client, per_minute=2):
            pass
    with pytest.raises(ModelBusy) as caught:
        async with place(worker, per_minute=2):
            pass
    assert 50 < caught.value.retry_after_s <= 60


async def test_what_a_server_asks_one_worker_to_wait_all_wait_and_the_longer_of_two_counts(worker, other_worker):
    await calls.rest(worker, 1200)
    await calls.rest(other_worker, 5)
    with pytest.raises(ModelBusy) as caught:
        async with place(other_worker):
            pass
    assert 1100 < caught.value.retry_after_s <= 1200
