"""The streams: nothing is dropped, nothing is acknowledged early, nothing waits for ever."""

import pytest

from nextlevel import redis_client
from nextlevel.errors import MalformedEvent, QueueUnreachable
from nextlevel.event import BULK_STREAM, STREAM, decode
from nextlevel.queue import streams
from tests.support import builders


@pytest.fixture
async def redis(valkey):
    client = redis_client.connect(valkey.url)
    yield client
    await client.aclose()


async def read(redis, consumer="one"):
    return await streams.read(redis, consumer, count=10, block_ms=10)


async def test_what_is_published_is_read_live_before_bulk(redis):
    await streams.ensure_group(redis)
    bulk, live = builders.event("b", lane="backfill"), builders.event("a")
    await streams.publish(redis, bulk)
    await streams.publish(redis, live)
    entries = await read(redis)
    assert [STREAM, BULK_STREAM] == [entry.stream for entry in entries]
    assert [live, bulk] == [decode(entry.fields) for entry in entries]


async def test_a_group_made_late_still_sees_the_first_entry(redis):
    """A worker that starts after the first turn must not miss it."""
    await streams.publish(redis, builders.event())
    await streams.ensure_group(redis)
    await streams.ensure_group(redis)
    assert 1 == len(await read(redis))


async def test_reading_after_redis_was_wiped_makes_the_group_again(redis):
    await streams.ensure_group(redis)
    await redis.flushall()
    assert [] == await read(redis)
    await streams.publish(redis, builders.event())
    assert 1 == len(await read(redis))


async def test_what_is_done_is_gone_and_what_is_not_is_taken_over_with_its_count(redis):
    """A reader that died held entries: they go to the next one, and how often is known."""
    await streams.ensure_group(redis)
    for _ in range(2):
        await streams.publish(redis, builders.event())
    first, second = await read(redis)
    await streams.done(redis, [first])
    assert {STREAM: 1, BULK_STREAM: 0} == await streams.depths(redis)

    taken = await streams.take_over(redis, "two", count=10, idle_ms=0)
    assert [(second.id, 2)] == [(entry.id, entry.deliveries) for entry in taken]
    taken = await streams.take_over(redis, "three", count=10, idle_ms=0)
    assert [3] == [entry.deliveries for entry in taken]


async def test_a_reader_leaves_the_group_only_with_empty_hands(redis):
    """Deleting a consumer with pending entries would lose them."""
    await streams.ensure_group(redis)
    await streams.publish(redis, builders.event())
    entries = await read(redis)
    await streams.leave(redis, "one")
    assert 1 == len(await streams.take_over(redis, "two", count=10, idle_ms=0))
    await streams.done(redis, entries)
    await streams.leave(redis, "two")
    assert [b"one"] == [row["name"] for row in await redis.xinfo_consumers(STREAM, "ingest")] or [] == [
        row["name"] for row in await redis.xinfo_consumers(STREAM, "ingest")
    ]


async def test_a_full_stream_leaves_turns_in_the_outbox(redis, monkeypatch):
    monkeypatch.setattr(streams, "FULL_ABOVE", 1)
    await streams.publish(redis, builders.event())
    with pytest.raises(QueueUnreachable, match="behind"):
        await streams.publish(redis, builders.event())


async def test_an_event_over_the_limit_is_refused_before_it_is_sent(redis):
    with pytest.raises(MalformedEvent, match="too_large"):
        await streams.publish(redis, builders.event("x" * 5_000_000))
    assert 0 == (await streams.depths(redis))[STREAM]


async def test_a_redis_that_is_away_is_a_transient_error(tmp_path):
    client = redis_client.connect(f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(QueueUnreachable, match="does not answer"):
        await streams.publish(client, builders.event())
    await client.aclose()
