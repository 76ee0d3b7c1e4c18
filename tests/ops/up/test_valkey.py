from __future__ import annotations

from pathlib import Path

import pytest
from redis.asyncio import Redis

from nextlevel.errors import Misconfigured
from nextlevel.ops.up import place, valkey
from tests.support import stores


async def test_acknowledged_entries_survive_a_killed_server(own_valkey: stores.TestValkey) -> None:
    """The stream is between two durable ends, yet losing it costs minutes of republishing."""
    async with Redis.from_url(own_valkey.url) as client:
        for number in range(1000):
            await client.xadd("nl:turns", {"e": str(number)})
    await own_valkey.kill()
    await own_valkey.start()
    async with Redis.from_url(own_valkey.url) as client:
        assert await client.xlen("nl:turns") == 1000


async def test_a_second_start_attaches_to_the_running_server(own_valkey: stores.TestValkey) -> None:
    """Two servers on one append-only file would ruin it; Valkey itself has no lock."""
    pid = own_valkey.pid
    assert valkey.start(own_valkey.data_dir).pid == pid


async def test_a_full_memory_refuses_and_never_evicts(valkey: stores.TestValkey) -> None:
    """An evicted entry is a turn lost in silence; a refused one waits in the outbox. Nothing is on the network."""
    async with Redis.from_url(valkey.url) as client:
        found = await client.config_get("maxmemory-policy", "appendfsync", "port")
    assert found == {"maxmemory-policy": "noeviction", "appendfsync": "everysec", "port": "0"}


def test_a_directory_with_somebody_elses_files_is_refused(data_dir: Path) -> None:
    """We never write into what isn't ours."""
    where = place.find(data_dir)
    where.make_private(data_dir / "valkey")
    (data_dir / "valkey" / "holiday.jpg").touch()
    with pytest.raises(Misconfigured, match=r"valkey holds files that aren't Valkey's"):
        valkey.start(data_dir)


def test_a_damaged_file_stops_with_the_end_of_the_log(data_dir: Path) -> None:
    """Rather than begin empty: the person decides what becomes of the queue."""
    valkey.start(data_dir).stop()
    base = next((data_dir / "valkey" / "appendonlydir").glob("*.base.rdb"))
    base.write_bytes(b"not a dump")
    with pytest.raises(Misconfigured, match=r"(?s)Valkey does not start; the end of its log .*valkey.log:\n  .+"):
        valkey.start(data_dir)
