"""The cache may be away, wiped, hung or behind: it never fails a reader and never serves what is over."""

import asyncio
import os
import signal
import time
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from nextlevel.cache import Cache, connection, contexts, keys, publish_generations
from nextlevel.errors import QueueUnreachable, StoreUnreachable

A, B = uuid4(), uuid4()


class Truth:
    """Postgres's own generations, and how often they were asked for."""

    def __init__(self, **numbers: int) -> None:
        self.numbers = {A: numbers.get("a", 1), B: numbers.get("b", 1)}
        self.asked = 0
        self.away = False

    async def __call__(self):
        self.asked += 1
        if self.away:
            raise StoreUnreachable("away")
        return dict(self.numbers)


def later(by_s):
    """The monotonic clock, so many seconds on."""
    now = time.monotonic
    return lambda: now() + by_s


@pytest.fixture
async def cache(valkey, monkeypatch):
    monkeypatch.setattr(connection, "_WAIT_S", 10.0)  # a busy machine is no Redis that hangs
    opened = Cache(valkey.url)
    yield opened
    await opened.close()


@pytest.fixture
async def redis(valkey):
    async with Redis.from_url(valkey.url) as client:
        yield client


async def test_generations_are_asked_of_postgres_once_then_of_redis(cache):
    """A round trip to Postgres on every recall is what the copies are there to save."""
    truth = Truth(a=3)
    found = [await cache.generations([A, B], truth) for _ in range(5)]
    assert {each.run is not None for each in found} == {True}
    assert [each.numbers for each in found] == [{A: 3, B: 1}] * 5
    assert truth.asked == 1


async def test_a_copy_is_checked_again_after_a_while(cache, monkeypatch):
    """A worker may die between its commit and its publication: nobody else would ever tell."""
    truth = Truth()
    await cache.generations([A, B], truth)
    truth.numbers[A] = 2
    monkeypatch.setattr(contexts, "TRUST_S", 0.0)
    assert (await cache.generations([A, B], truth)).numbers == {A: 2, B: 1}


async def test_a_wiped_redis_is_filled_again(cache, valkey, redis):
    """After a wipe the plugin's own rung compares with these copies: they must come back."""
    truth = Truth(a=7)
    await cache.generations([A, B], truth)
    await valkey.fresh()
    assert (await cache.generations([A, B], truth)).numbers == {A: 7, B: 1}
    assert await redis.get(keys.generation(A)) == b"7"


async def test_a_copy_never_goes_back(redis):
    """Two publishers may arrive in either order; the older number must not bring back what a newer one put away."""
    await publish_generations(redis, {A: 5, B: 2})
    await publish_generations(redis, {A: 4, B: 3})
    assert [await redis.get(keys.generation(each)) for each in (A, B)] == [b"5", b"3"]


async def test_whoever_listens_hears_of_a_new_generation(redis):
    """A dashboard or a sleeping hot scope learns at once; nobody relies on it."""
    async with redis.pubsub() as listener:
        await listener.subscribe(keys.EVENTS)
        await listener.get_message(timeout=5)
        await publish_generations(redis, {A: 5})
        message = await listener.get_message(timeout=5)
    assert str(A).encode() in message["data"]


async def test_who_asks_again_and_again_never_waits_for_postgres(cache, monkeypatch):
    """A round trip to Postgres every five seconds would be the slowest answer of a hundred, for nothing."""
    truth = Truth()
    await cache.generations([A, B], truth)
    truth.numbers[A] = 2
    monkeypatch.setattr(time, "monotonic", later(contexts.TRUST_S / 2 + 0.1))
    assert (await cache.generations([A, B], truth)).numbers == {A: 1, B: 1}
    async with asyncio.timeout(5):
        while (await cache.generations([A, B], truth)).numbers != {A: 2, B: 1}:
            await asyncio.sleep(0.01)
    assert truth.asked == 2


async def test_a_check_behind_that_fails_leaves_the_next_one_to_ask(cache, monkeypatch):
    truth = Truth()
    await cache.generations([A, B], truth)
    truth.away = True
    monkeypatch.setattr(time, "monotonic", later(contexts.TRUST_S / 2 + 0.1))
    await cache.generations([A, B], truth)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    truth.away, truth.numbers[A] = False, 3
    monkeypatch.setattr(time, "monotonic", later(contexts.TRUST_S))
    assert (await cache.generations([A, B], truth)).numbers == {A: 3, B: 1}


async def test_what_is_kept_is_looked_for_under_the_generations_of_now(cache, redis):
    """Looked for beside them, by what held before, it could be what was forgotten since."""

    def key_of(state):
        return keys.context(state.run, A, state.numbers, ["q"])

    truth = Truth()
    state, kept = await cache.look([A, B], truth, key_of)
    assert kept is None
    await cache.put(key_of(state), b"of the first")
    assert await cache.look([A, B], truth, key_of) == (state, b"of the first")
    await publish_generations(redis, {A: 2})
    moved, kept = await cache.look([A, B], truth, key_of)
    assert (moved.numbers, kept) == ({A: 2, B: 1}, None)
    await cache.put(key_of(moved), b"of the second")
    assert await cache.look([A, B], truth, key_of) == (moved, b"of the second")


async def test_without_redis_nothing_is_kept():
    state, kept = await Cache(None).look([A, B], Truth(), lambda state: "nl:ctx:x")
    assert (state.run, kept) == (None, None)


async def test_a_copy_ahead_of_postgres_counts(cache, redis):
    """A deletion raises it before it commits: from then on nothing older may be served."""
    await publish_generations(redis, {A: 9})
    assert (await cache.generations([A, B], Truth(a=8))).numbers[A] == 9


async def test_without_redis_postgres_is_asked_each_time():
    """Slower, and never wrong."""
    cache = Cache(None)
    truth = Truth()
    for number in (1, 2):
        truth.numbers[A] = number
        found = await cache.generations([A, B], truth)
        assert (found.run, found.numbers[A]) == (None, number)
    assert await cache.get("nl:ctx:x") is None
    await cache.put("nl:ctx:x", b"1")
    await cache.close()


async def test_with_postgres_away_the_copies_hold(cache, monkeypatch):
    """Hot scopes and kept answers go on serving through a restart of Postgres."""
    truth = Truth(a=4)
    await cache.generations([A, B], truth)
    truth.away = True
    monkeypatch.setattr(contexts, "TRUST_S", 0.0)
    assert (await cache.generations([A, B], truth)).numbers == {A: 4, B: 1}


async def test_with_nobody_to_ask_it_says_so():
    """ "Unknown" must not be made of "unavailable"."""
    cache = Cache("unix:///tmp/no-such-socket")
    truth = Truth()
    truth.away = True
    with pytest.raises(StoreUnreachable):
        await cache.generations([A, B], truth)
    with pytest.raises(QueueUnreachable):
        await cache.ping()
    await cache.close()


async def test_a_kept_answer_is_out_of_reach_for_another_state_or_another_run():
    """The key is the whole invalidation: there is no list of keys to delete and none to miss."""
    key = keys.context("run1", A, {A: 1, B: 1}, ["q"])
    assert key == keys.context("run1", A, {B: 1, A: 1}, ["q"])
    others = [
        keys.context("run2", A, {A: 1, B: 1}, ["q"]),
        keys.context("run1", A, {A: 2, B: 1}, ["q"]),
        keys.context("run1", A, {A: 1, B: 2}, ["q"]),
        keys.context("run1", A, {A: 1, B: 1}, ["q2"]),
        keys.context("run1", B, {A: 1, B: 1}, ["q"]),
    ]
    assert len({key, *others}) == 6


async def test_what_is_kept_ends_by_itself(cache, redis):
    """Out of reach is not enough: it must not fill Redis either."""
    await cache.put("nl:ctx:x", b"1")
    await cache.put_warm("nl:warm:x", "text", {A: 1})
    assert 0 < await redis.ttl("nl:ctx:x") <= 600
    assert 0 < await redis.ttl("nl:warm:x") <= 24 * 3600


async def test_a_hung_redis_is_asked_once_and_then_left_alone(own_valkey):
    """Stopped by a debugger or a full disk, it accepts and never answers: not every recall may pay for that."""
    cache = Cache(own_valkey.url)
    truth = Truth()
    await cache.generations([A, B], truth)
    os.kill(own_valkey.pid, signal.SIGSTOP)
    try:
        found = [await cache.generations([A, B], truth) for _ in range(20)]
        assert {each.run for each in found} == {None}
        assert not await cache.publish({A: 2})
    finally:
        os.kill(own_valkey.pid, signal.SIGCONT)
    await cache.close()


async def test_callers_share_a_flight_and_one_that_gives_up_leaves_the_others_theirs(cache):
    """A client's time-out must not take the answer from all who joined it."""
    go, made = asyncio.Event(), []

    async def work():
        made.append(1)
        await go.wait()
        return 42

    first, second = (asyncio.create_task(cache.once("x", work)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    go.set()
    assert await second == 42
    assert len(made) == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_the_next_flight_after_a_failed_one_is_a_new_one(cache):
    """A failure is shared with those who waited, not kept for those who come later."""

    async def failing():
        raise StoreUnreachable("away")

    async def working():
        return 1

    with pytest.raises(StoreUnreachable):
        await cache.once("x", failing)
    assert await cache.once("x", working) == 1
