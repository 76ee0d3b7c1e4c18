"""A real session store of the host: each completed turn comes in once, under whom and when it was said."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nextlevel.errors import UnusableFile
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes import status
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.provider import Provider
from nextlevel.producers.importers.backfill import Progress, history, missed
from tests.producers.hermes.test_provider import events
from tests.support import hermes

AT = 1_790_000_000.0
SAY = "INSERT INTO messages (session_id, role, content, timestamp, active) VALUES (?, ?, ?, ?, 1)"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    path = (tmp_path / "hermes").resolve()
    path.mkdir()
    save(path, Config(install="k3v9wq", home=str(path)))
    yield homes.of(path)
    homes.of(path).database.close()


Past = Callable[..., list[tuple[str, str, str]]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, str, str]]]:
    """A store that the host wrote, and the turns that stand in it."""
    path = tmp_path_factory.mktemp("host").resolve()
    standing = hermes.run("past_sessions", path, {"at": AT})
    return path / "state.db", [tuple(each) for each in standing]


@pytest.fixture
def past(home: Home, written: tuple[Path, list[tuple[str, str, str]]]) -> Past:
    """Give the home that store, as if it had been written later; the turns that stand in it."""

    def put(at: float = AT) -> list[tuple[str, str, str]]:
        shutil.copyfile(written[0], home.path / "state.db")
        with closing(sqlite3.connect(home.path / "state.db")) as store, store:
            store.execute("UPDATE messages SET timestamp = timestamp + ?", (at - AT,))
        return written[1]

    return put


async def bring(home: Home) -> Progress:
    done = Progress()
    async for each in history(home.path):
        done = each
    return done


def turns(home: Home) -> list[tuple[str, str, str]]:
    return [
        (event["session"], event["user_text"], event["assistant_text"])
        for event in events(home)
        if event["kind"] == "turn"
    ]


async def test_each_turn_that_stands_comes_in_once(home: Home, past: Past) -> None:
    """Neither copies of a compaction or a branch, nor what was undone, interrupted, or said by machines."""
    standing = past()
    done = await bring(home)
    assert Counter(standing) == Counter(turns(home))
    assert (len(standing), 0) == (done.new, done.known)
    found: dict[str, dict[str, Any]] = {event["user_text"]: event for event in events(home)}
    port, short = found["Which port has the CI?"], found["Short answers, please."]
    assert ("backfill", "local", "default", "terminal") == (
        port["lane"], port["principal"], port["profile"], port["tools"][0]["name"],
    )  # fmt: skip
    assert "telegram:42" == short["principal"]
    assert port["at"].startswith(time.strftime("%Y-%m-%d", time.localtime(AT)))


async def test_a_repetition_brings_nothing_and_a_new_turn_comes_alone(home: Home, past: Past) -> None:
    """It may be broken off anywhere: what is written is known again, mark or no mark."""
    standing = past()
    await bring(home)
    again = await bring(home)
    assert (0, 0) == (again.new, again.known)
    with home.database.transaction() as connection:
        connection.execute("DELETE FROM notes")
    again = await bring(home)
    assert (0, len(standing)) == (again.new, again.known)
    with closing(sqlite3.connect(home.path / "state.db")) as store, store:
        for role, text in (("user", "one more"), ("assistant", "Yes.")):
            store.execute(SAY, ("archived", role, text, AT + 9_999))
    assert 1 == (await bring(home)).new


async def test_what_a_hook_brought_is_the_same_turn(home: Home, past: Past) -> None:
    """Live and from the store: one fingerprint."""
    provider = Provider()
    provider.initialize("plain", hermes_home=str(home.path), platform="cli", agent_identity="default")
    provider.sync_turn("I write in vim.", "Noted.", session_id="plain")
    standing = past()
    done = await bring(home)
    assert (len(standing) - 1, 1) == (done.new, done.known)


async def test_an_hourly_look_finds_what_no_hook_brought_since_we_are_here(home: Home, past: Past) -> None:
    """Not the whole past, which is for a person to bring in; and what was undone is taken back."""
    provider = Provider()
    provider.initialize("rewound", hermes_home=str(home.path), platform="cli", agent_identity="default")
    provider.sync_turn("We ship on Mondays.", "Noted.", session_id="rewound", at="2026-01-01T00:00:00+00:00")
    provider.sync_turn("We ship on Fridays.", "Noted.", session_id="rewound", at="2026-01-01T00:00:00+00:00")
    # The host's compaction writes its copies at the time of the run: that session is not settled yet.
    settled = [each for each in past(at=time.time() - 7_200) if "compacted" != each[0]]
    done = await missed(home.path)
    assert (len(settled) - 1, 1, 1) == (done.new, done.known, done.undone)
    assert {"turns": ["k3v9wq:2"]} == next(event["body"] for event in events(home) if "retract" == event["kind"])
    assert {"batch"} == {event["lane"] for event in events(home) if event["meta"].get("imported")}
    assert 0 == (await missed(home.path)).new


async def test_an_hourly_look_leaves_the_past_and_the_present_alone(home: Home, past: Past) -> None:
    """What was just said may still be brought by its own hook."""
    provider = Provider()
    provider.initialize("s1", hermes_home=str(home.path))
    provider.sync_turn("hello", "Hello.")
    past(at=time.time() - 86_400)
    assert 0 == (await missed(home.path)).new
    (home.path / "state.db").unlink()
    past(at=time.time())
    assert 0 == (await missed(home.path)).new


async def test_what_was_off_the_record_is_not_found_later(
    home: Home, past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a pause would last an hour."""
    provider = Provider()
    provider.initialize("plain", hermes_home=str(home.path), platform="cli", agent_identity="default")
    provider.sync_turn("don't remember this session", "All right.", session_id="plain")
    save(home.path, Config(install="k3v9wq", home=str(home.path), exclude_platforms="telegram", pauses="1-2"))
    past()
    await bring(home)
    assert {"plain", "dm"}.isdisjoint({session for session, *_ in turns(home)})
    (home.path / "state.db").unlink()
    with home.database.transaction() as connection:
        for emptied in ("DELETE FROM notes", "DELETE FROM events", "DELETE FROM outbox"):
            connection.execute(emptied)
    monkeypatch.setattr(time, "time", lambda: AT - 60)
    status.pause(home.path, True)
    monkeypatch.setattr(time, "time", lambda: AT + 86_400)
    status.pause(home.path, False)
    monkeypatch.undo()
    past()
    assert 0 == (await bring(home)).new


async def test_a_store_of_another_kind_is_told(home: Home) -> None:
    """By its path, and without a traceback."""
    (home.path / "state.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(UnusableFile, match=r"state\.db"):
        await bring(home)


def put_sessions(home: Home, sessions: int) -> None:
    """A store of so many sessions of one turn each, as the host's own tables hold them."""
    with closing(sqlite3.connect(home.path / "state.db")) as store, store:
        for number in range(sessions):
            made = (f"s{number}", AT + number)
            store.execute("INSERT INTO sessions (id, source, started_at) VALUES (?, 'cli', ?)", made)
            for role, text in (("user", f"Fact number {number}."), ("assistant", "Noted.")):
                store.execute(SAY, (made[0], role, text, made[1]))


async def test_the_hosts_store_is_read_while_the_host_writes_it(home: Home, past: Past) -> None:
    """An agent at work must neither wait for an import nor fail by it, and half a turn is none."""
    standing = past()
    with closing(sqlite3.connect(home.path / "state.db", isolation_level=None)) as host:
        host.execute("PRAGMA journal_mode = WAL")
        host.execute("BEGIN IMMEDIATE")
        host.execute(SAY, ("plain", "user", "now", AT + 9_999))
        done = await bring(home)
        assert len(standing) == done.new
        host.execute(SAY, ("plain", "assistant", "Yes.", AT + 9_999))
        host.execute("COMMIT")
    assert 1 == (await bring(home)).new
    assert ("plain", "now", "Yes.") in turns(home)


async def test_the_hosts_store_is_left_as_it_was(home: Home, past: Past) -> None:
    """It is the host's: not a byte of it is ours to change."""
    past()
    before = (home.path / "state.db").read_bytes()
    await bring(home)
    assert before == (home.path / "state.db").read_bytes()


@pytest.mark.journey
async def test_ten_thousand_sessions_come_in_though_it_is_broken_off(home: Home, past: Past) -> None:
    """Years of an agent: who stops it after an hour goes on there, and no turn comes twice or not at all."""
    standing = len(past())
    put_sessions(home, 10_000)
    async for done in history(home.path):
        if done.sessions == 4_000:
            break
    first = len(turns(home))
    assert 0 < first <= 4_000
    done = await bring(home)
    assert (10_000 + standing - first, done.of) == (done.new, done.sessions)
    assert {1} == set(Counter(turns(home)).values())
