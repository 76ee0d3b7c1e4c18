"""The relay delivers for agents that say nothing more, and outlives what it depends on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from nextlevel.event import decode
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.homes import register_home, unregister_home
from nextlevel.producers.relay import Relay
from nextlevel.producers.shortterm.database import Database, path_of
from nextlevel.producers.shortterm.outbox import Draft, append
from nextlevel.settings import Settings
from tests.producers.shortterm.test_rescue import damage
from tests.support import hermes
from tests.support.stores import TestValkey

MakeHome = Callable[[str], Database]


@pytest.fixture
def make_home(tmp_path: Path, ours: Settings) -> Iterator[MakeHome]:
    """A registered home, with its tier 2."""
    made: list[Database] = []

    def make(install: str) -> Database:
        home = (tmp_path / install).resolve()
        home.mkdir()
        register_home(ours, home)
        made.append(Database(path_of(home), home=home, base=install))
        return made[-1]

    yield make
    for database in made:
        database.close()


def say(database: Database, *texts: str, **more: object) -> None:
    for text in texts:
        draft = Draft(session="s1", at="2026-06-01T09:00:00+02:00", user_text=text, **more)  # type: ignore[arg-type]
        append(database, draft)


def states(database: Database) -> list[str]:
    with database.reading() as connection:
        return [row[0] for row in connection.execute("SELECT state FROM outbox ORDER BY row")]


async def on_stream(url: str, stream: str = "nl:turns") -> list[str]:
    async with Redis.from_url(url) as redis:
        return [decode(fields).user_text for _, fields in await redis.xrange(stream)]


async def until(met: Callable[[], object]) -> None:
    """Wait for a condition; the test's timeout is the limit."""
    while not met():
        await asyncio.sleep(0.01)


@asynccontextmanager
async def relay(ours: Settings, url: str) -> AsyncIterator[Relay]:
    """A relay that the test drives round by round."""
    made = Relay(ours.model_copy(update={"redis_url": url}))
    yield made
    await made.close()


async def test_what_waits_in_each_home_is_delivered(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """An agent that has ended delivers nothing itself."""
    one, two = make_home("aaaa"), make_home("bbbb")
    say(one, "a", "b")
    say(two, "c")
    say(two, "old", lane="backfill")
    async with relay(ours, valkey.url) as running:
        assert 4 == await running.round()
        assert 0 == await running.round()
    assert ["a", "b", "c"] == await on_stream(valkey.url)
    assert ["old"] == await on_stream(valkey.url, "nl:turns:bulk")


async def test_a_turn_said_while_it_runs_is_delivered(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """By SQLite's change counter: an idle outbox is not read."""
    database = make_home("aaaa")
    async with relay(ours, valkey.url) as running:
        assert 0 == await running.round()
        say(database, "now")
        assert 1 == await running.round()


async def test_receipts_are_applied(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """And what a restored Postgres lost is sent again."""
    database = make_home("aaaa")
    say(database, "a", "b", "c")
    async with relay(ours, valkey.url) as running, Redis.from_url(valkey.url) as redis:
        await running.round()
        await redis.set("nl:ack:aaaa", json.dumps({"mark": 1, "high": 3, "gaps": [[2, 2]], "hidden": [1], "forks": {}}))
        running._outboxes[database.home]._receipts_at = 0
        await running.round()
        assert ["acked", "published", "acked"] == states(database)
        await redis.set("nl:ack:aaaa", json.dumps({"mark": 0, "high": 0, "gaps": []}))
        running._outboxes[database.home]._receipts_at = 0
        assert 2 == await running.round()


async def test_redis_may_go_away_and_come_back(ours: Settings, make_home: MakeHome, own_valkey: TestValkey) -> None:
    """Losing Redis loses nothing and ends nothing."""
    database = make_home("aaaa")
    stopping = asyncio.Event()
    running = Relay(ours.model_copy(update={"redis_url": own_valkey.url}))
    task = asyncio.create_task(running.run(stopping))
    say(database, "before")
    await until(lambda: states(database) == ["published"])
    await own_valkey.stop()
    say(database, "meanwhile")
    await until(lambda: not task.done() and states(database)[1] == "pending")
    await own_valkey.start()
    await until(lambda: states(database)[1] == "published")
    assert "meanwhile" in await on_stream(own_valkey.url)
    stopping.set()
    await task


async def test_trouble_with_one_file_delays_no_other(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """A damaged outbox is told, and the others go on."""
    broken, newer, good = make_home("aaaa"), make_home("bbbb"), make_home("cccc")
    broken.path.parent.mkdir()
    broken.path.write_bytes(b"this is no database" * 500)
    say(newer, "x")
    with newer.reading() as connection:
        connection.execute("PRAGMA user_version = 99")
    say(good, "fine")
    async with relay(ours, valkey.url) as running:
        assert 1 == await running.round()
        assert {broken.home, newer.home} == set(running._troubled)


async def test_a_file_that_was_begun_anew_is_delivered_from(
    ours: Settings, make_home: MakeHome, valkey: TestValkey
) -> None:
    """The agent found the old one damaged while the relay had it open."""
    database = make_home("aaaa")
    say(database, "before")
    async with relay(ours, valkey.url) as running:
        assert 1 == await running.round()
        damage(database)
        say(database, "after")
        assert 1 == await running.round()
    assert ["before", "after"] == await on_stream(valkey.url)


async def test_a_home_without_turns_is_left_alone(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """The agent makes its files itself, as its own user."""
    database = make_home("aaaa")
    async with relay(ours, valkey.url) as running:
        assert 0 == await running.round()
    assert not database.path.exists()


async def test_old_turns_are_emptied(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """Retention runs also where no turn follows."""
    database = make_home("aaaa")
    for n in range(12):
        append(database, Draft(session=f"s{n}", at="2020-06-01T09:00:00+02:00", user_text="old"))
    with database.transaction() as connection:
        connection.execute("UPDATE outbox SET state = 'acked'")
    async with relay(ours, valkey.url) as running:
        await running.round()
    with database.reading() as connection:
        assert 2 == connection.execute("SELECT count(*) FROM outbox WHERE held = 0").fetchone()[0]


def test_the_setting_names_the_homes(ours: Settings, make_home: MakeHome, tmp_path: Path) -> None:
    """It replaces the list that installing keeps; taking a plugin out takes the home off that list."""
    from nextlevel.producers.homes import registered

    database = make_home("aaaa")
    named = ours.model_copy(update={"homes": f"{tmp_path}/x{os.pathsep}{tmp_path}/y"})
    assert [tmp_path / "x", tmp_path / "y"] == registered(named)
    assert [database.home] == registered(ours)
    unregister_home(ours, database.home)
    assert [] == registered(ours)


async def test_the_process_stops_when_told(ours: Settings, make_home: MakeHome, valkey: TestValkey) -> None:
    """Within its five seconds, and with what it had begun."""
    database = make_home("aaaa")
    say(database, "a")
    environment = {**os.environ, "NEXTLEVEL_REDIS_URL": valkey.url}
    command = [sys.executable, "-m", "nextlevel.producers.relay"]
    process = await asyncio.create_subprocess_exec(*command, env=environment)
    await until(lambda: states(database) == ["published"])
    process.send_signal(signal.SIGTERM)
    assert 0 == await asyncio.wait_for(process.wait(), 5)


def test_a_wrong_setting_is_told(data_dir: Path) -> None:
    """Exit code 2 and a sentence, no traceback."""
    environment = {**os.environ, "NEXTLEVEL_LOG_LEVEL": "loud"}
    command = [sys.executable, "-m", "nextlevel.producers.relay"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (2, True) == (done.returncode, "setting log_level" in done.stderr)


async def test_what_no_hook_brought_is_found_in_the_hosts_own_store(
    ours: Settings, make_home: MakeHome, valkey: TestValkey
) -> None:
    """By the lane for what can wait; a store that can't be read holds up no delivery."""
    database, other = make_home("k3v9"), make_home("p7q2")
    for each in (database, other):
        save(each.home, Config(install=each.base, home=str(each.home)))
        say(each, f"live of {each.base}")
    hermes.run("past_sessions", database.home, {"at": time.time() - 7_200})
    (other.home / "state.db").write_bytes(b"no database at all" * 100)
    async with relay(ours, valkey.url) as running:
        await running.round()
    assert ["live of k3v9", "live of p7q2"] == sorted(await on_stream(valkey.url))
    assert "Which port has the CI?" in await on_stream(valkey.url, "nl:turns:bulk")
