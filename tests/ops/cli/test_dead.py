"""Dead letters from the command line, on the whole product."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.ops.up.tree import running
from nextlevel.settings import Settings, load
from tests.support import stores
from tests.support.command import nextlevel
from tests.support.ports import free_port


@pytest.fixture(scope="module")
async def settings() -> AsyncIterator[Settings]:
    directory = stores.make_dir()
    made = load(data_dir=directory, serve_port=free_port())
    async with running(made):
        yield load(data_dir=directory)
    stores.remove_dir(directory)


async def test_what_was_refused_is_listed_decided_on_and_gone(settings: Settings) -> None:
    """Over ssh there is no browser."""

    async def types(*words: str) -> tuple[int, str]:
        code, out, err = await nextlevel("--data-dir", str(settings.data_dir), *words)
        return code, out + err

    assert (0, "none\n") == await types("dead", "list")
    async with Redis.from_url(settings.need_redis()) as client:
        for raw in (b"{", b"{\x1b[2J", b'{"v": 99}'):
            await client.xadd("nl:turns", {"e": raw})
    while "unknown_version" not in (listed := (await types("dead", "list"))[1]):
        pass
    assert 2 == listed.count("bad_json  no turn  quarantined")
    assert "\x1b" not in listed
    assert "Discard 2 dead letters?" in (await types("dead", "discard", "--code", "bad_json"))[1]
    assert (0, "discarded: 2\n") == await types("dead", "discard", "--code", "bad_json", "--yes")
    assert (1, "none fits\n") == await types("dead", "retry", "--code", "bad_json")
    assert 1 == (await types("dead", "list"))[1].count("quarantined")


async def test_the_dashboard_says_where_it_is_and_what_opens_it(settings: Settings) -> None:
    code, out, _ = await nextlevel("--data-dir", str(settings.data_dir), "dashboard")
    assert (0, f"{settings.need_service()}/dashboard/\n") == (code, out)
    code, out, _ = await nextlevel("--data-dir", str(settings.data_dir), "dashboard", "--token")
    assert (0, token(secret_of(settings), OPERATOR)) == (code, out.strip())
