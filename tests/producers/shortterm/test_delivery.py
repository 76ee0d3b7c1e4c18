"""From the outbox to the stream and back by receipts, on a real Valkey."""

from __future__ import annotations

import json
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis as Client

from nextlevel.errors import QueueUnreachable
from nextlevel.event import decode
from nextlevel.producers.shortterm import delivery, sql
from nextlevel.producers.shortterm.database import Database
from nextlevel.producers.shortterm.outbox import Draft, append, counts
from nextlevel.wire.resp import Redis
from tests.support.stores import TestValkey

OpenTier2 = Callable[..., Database]


def say(database: Database, *texts: str) -> list[str]:
    return [append(database, Draft(session="s1", at="2026-06-01T09:00:00+02:00", user_text=text)).id for text in texts]


def states(database: Database) -> list[str]:
    with database.reading() as connection:
        return [row["state"] for row in connection.execute("SELECT state FROM outbox ORDER BY row")]


def make_due(database: Database) -> None:
    """As if the wait before the next try were over."""
    with database.transaction() as connection:
        connection.execute("UPDATE outbox SET next_at = 0")


@pytest.fixture
def client(valkey: TestValkey) -> Iterator[Client]:
    with Client.from_url(valkey.url) as made:
        yield made


@pytest.fixture
def redis(valkey: TestValkey) -> Iterator[Redis]:
    made = Redis(valkey.url)
    yield made
    made.close()


def receipt(client: Client, install: str, **fields: object) -> None:
    client.set(f"nl:ack:{install}", json.dumps({"gaps": [], **fields}))


def on_stream(client: Client, stream: str = "nl:turns") -> list[str]:
    return [decode(fields).user_text for _, fields in client.xrange(stream)]


def test_turns_reach_the_stream_in_the_order_they_were_said(tier2: Database, client: Client, redis: Redis) -> None:
    """The workers take a session's turns in order."""
    say(tier2, "one", "two", "three")
    assert delivery.Drained(sent=3, waiting=3) == delivery.drain(tier2, redis, budget_s=5)
    assert ["one", "two", "three"] == on_stream(client)
    assert ["published"] * 3 == states(tier2)


def test_a_large_turn_arrives_as_it_was_said(tier2: Database, client: Client, redis: Redis) -> None:
    """It is kept packed, and packed it goes on the wire."""
    text = "Zeile für Zeile " * 10_000
    say(tier2, text)
    delivery.drain(tier2, redis, budget_s=5)
    assert ([text], [{b"z"}]) == (on_stream(client), [set(fields) for _, fields in client.xrange("nl:turns")])


def test_a_backfill_has_a_stream_of_its_own(tier2: Database, client: Client, redis: Redis) -> None:
    """A long import must not stand before what is said now."""
    append(tier2, Draft(session="s1", at="2026-06-01T09:00:00+02:00", user_text="old", lane="backfill"))
    delivery.drain(tier2, redis, budget_s=5)
    assert (["old"], []) == (on_stream(client, "nl:turns:bulk"), on_stream(client))


def test_what_is_on_its_way_is_not_sent_twice_at_once(tier2: Database, client: Client, redis: Redis) -> None:
    """The plugin and the relay drain the same outbox."""
    say(tier2, "one")
    delivery.drain(tier2, redis, budget_s=5)
    assert 0 == delivery.drain(tier2, redis, budget_s=5).sent


def test_an_unacknowledged_turn_goes_out_again_later_and_later(tier2: Database, redis: Redis) -> None:
    """Redis may lose what it has acknowledged: 30 s, doubling to 10 minutes."""
    say(tier2, "one")
    waits = []
    for _ in range(7):
        make_due(tier2)
        before = time.time()
        delivery.drain(tier2, redis, budget_s=5)
        with tier2.reading() as connection:
            waits.append(round((connection.execute("SELECT next_at FROM outbox").fetchone()[0] - before) / 10) * 10)
    assert [30, 60, 120, 240, 480, 600, 600] == waits


def test_a_clock_that_was_ahead_holds_up_nothing(
    tier2: Database, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was sent in next year's name and got lost would else wait until then."""
    real = time.time()
    monkeypatch.setattr(time, "time", lambda: real + 365 * 86_400)
    say(tier2, "one")
    assert 1 == delivery.drain(tier2, redis, budget_s=5).sent
    monkeypatch.setattr(time, "time", lambda: real)
    assert 1 == delivery.drain(tier2, redis, budget_s=5).sent
    assert 0 == delivery.drain(tier2, redis, budget_s=5).sent, "from here on by the clock that is right"


def test_a_receipt_acknowledges_all_but_its_gaps(tier2: Database, client: Client, redis: Redis) -> None:
    """A success after a failure must not hide the failure."""
    say(tier2, *"abcdef")
    delivery.drain(tier2, redis, budget_s=5)
    receipt(client, "k3v9wq", mark=2, high=5, gaps=[[3, 3]])
    assert 2 == delivery.drain(tier2, redis, budget_s=5).waiting
    assert ["acked", "acked", "published", "acked", "acked", "published"] == states(tier2)


def test_a_restored_postgres_gets_again_what_it_lost(tier2: Database, client: Client, redis: Redis) -> None:
    """Its mark falls behind the one we knew: everything above is sent again."""
    say(tier2, *"abcd")
    delivery.drain(tier2, redis, budget_s=5)
    receipt(client, "k3v9wq", mark=4, high=4)
    delivery.drain(tier2, redis, budget_s=5)
    assert ["acked"] * 4 == states(tier2)

    client.delete("nl:turns")
    receipt(client, "k3v9wq", mark=1, high=3, gaps=[[2, 2]])
    delivery.drain(tier2, redis, budget_s=5)
    assert ["b", "d"] == on_stream(client)


def test_a_restored_home_takes_a_new_id_before_it_writes(
    tier2: Database, home: Path, tmp_path: Path, client: Client, redis: Redis, open_tier2: OpenTier2
) -> None:
    """It would give numbers a second time that Postgres already knows."""
    say(tier2, "a", "b")
    tier2.close()
    shutil.copytree(home, tmp_path / "backup")
    say(tier2, "c", "d")
    tier2.close()
    shutil.rmtree(home)
    shutil.copytree(tmp_path / "backup", home)

    restored = open_tier2(home)
    receipt(client, "k3v9wq", mark=4, high=4)
    delivery.settle(restored, redis, timeout_s=5)
    (written,) = say(restored, "after the restore")
    assert written.startswith("k3v9wq.")


def test_a_receipt_never_acknowledges_what_was_not_sent(tier2: Database, client: Client, redis: Redis) -> None:
    """After a restore Postgres holds another turn under this number; ours must still be shown to it."""
    say(tier2, "ours")
    receipt(client, "k3v9wq", mark=9, high=9)
    delivery.settle(tier2, redis, timeout_s=5)
    assert ["pending"] == states(tier2)
    delivery.drain(tier2, redis, budget_s=5)
    assert ["ours"] == on_stream(client)


def test_numbers_given_while_a_receipt_is_read_make_no_new_id(tier2: Database, client: Client, redis: Redis) -> None:
    """Only a number that was never given tells of a restore."""
    say(tier2, "a")
    delivery.drain(tier2, redis, budget_s=5)
    receipt(client, "k3v9wq", mark=1, high=1)
    delivery.drain(tier2, redis, budget_s=5)
    assert ["k3v9wq:2"] == say(tier2, "b")


def test_a_copied_home_still_delivers_what_it_was_copied_with(
    tier2: Database, home: Path, tmp_path: Path, client: Client, redis: Redis, open_tier2: OpenTier2
) -> None:
    """If it was moved, not copied, nobody else will."""
    say(tier2, "waiting")
    tier2.close()
    shutil.move(home, tmp_path / "moved")
    moved = open_tier2(tmp_path / "moved")
    say(moved, "said here")
    delivery.drain(moved, redis, budget_s=5)
    assert ["waiting", "said here"] == on_stream(client)
    receipt(client, "k3v9wq", mark=1, high=1)
    delivery.drain(moved, redis, budget_s=5)
    assert ["acked", "published"] == states(moved)


def test_a_home_whose_turn_was_filed_as_a_fork_takes_a_new_id(tier2: Database, client: Client, redis: Redis) -> None:
    """Two containers cloned from one image have the same path: only ingest can tell them apart."""
    say(tier2, "said in the clone")
    delivery.drain(tier2, redis, budget_s=5)
    with tier2.reading() as connection:
        fp = connection.execute("SELECT fp FROM outbox").fetchone()[0]
    receipt(client, "k3v9wq", mark=1, high=1, forks={"1": "00000000"})
    delivery.drain(tier2, redis, budget_s=5)
    assert ["k3v9wq:2"] == say(tier2, "the other home's turn is the fork, not ours")
    receipt(client, "k3v9wq", mark=1, high=1, forks={"1": fp[:8]})
    delivery.drain(tier2, redis, budget_s=5)
    assert say(tier2, "ours is")[0].startswith("k3v9wq.")


def test_an_outbox_that_was_lost_begins_under_a_new_id(tier2: Database, client: Client, redis: Redis) -> None:
    """Its first number would be one that Postgres knows."""
    receipt(client, "k3v9wq", mark=7, high=7)
    delivery.settle(tier2, redis, timeout_s=5)
    assert say(tier2, "x")[0].startswith("k3v9wq.")


@pytest.mark.parametrize("raw", ["", "no json", "[]", '{"mark": "x", "high": 1}', '{"mark": 3}'])
def test_a_receipt_that_cannot_be_read_changes_nothing(tier2: Database, client: Client, redis: Redis, raw: str) -> None:
    """No conclusion is safer than a wrong one."""
    say(tier2, "a")
    delivery.drain(tier2, redis, budget_s=5)
    client.set("nl:ack:k3v9wq", raw)
    delivery.drain(tier2, redis, budget_s=5)
    assert ["published"] == states(tier2)


def test_turns_said_while_redis_is_away_wait_on_the_disk(tier2: Database, client: Client, redis: Redis) -> None:
    """A laptop that was offline for a week loses nothing."""
    say(tier2, "a", "b")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        away = Redis(f"redis://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(QueueUnreachable):
            delivery.drain(tier2, away, budget_s=5)
    assert ["pending", "pending"] == states(tier2)
    delivery.drain(tier2, redis, budget_s=5)
    assert ["a", "b"] == on_stream(client)


def test_a_full_redis_takes_nothing_and_loses_nothing(tier2: Database, client: Client, redis: Redis) -> None:
    """OOM is an answer like "away": due again at once, and not counted as a try."""
    say(tier2, "a")
    limits = client.config_get("maxmemory")
    client.config_set("maxmemory", "1")
    try:
        with pytest.raises(QueueUnreachable, match="OOM"):
            delivery.drain(tier2, redis, budget_s=5)
    finally:
        client.config_set("maxmemory", limits["maxmemory"])
    assert ["pending"] == states(tier2)
    assert 1 == delivery.drain(tier2, redis, budget_s=5).sent


def test_a_stream_that_is_far_behind_gets_no_more(
    tier2: Database, client: Client, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns are safe here; in Redis they would only take its memory."""
    monkeypatch.setattr(delivery, "STREAM_LIMIT", 2)
    for _ in range(3):
        client.xadd("nl:turns", {"e": "x"})
    say(tier2, "a")
    with pytest.raises(QueueUnreachable, match="until ingest has caught up"):
        delivery.drain(tier2, redis, budget_s=5)
    assert ["pending"] == states(tier2)


def test_a_drain_ends_after_so_many_rows(tier2: Database, redis: Redis) -> None:
    """It runs inside a hook of the host."""
    say(tier2, *(f"fact {n}" for n in range(30)))
    assert delivery.Drained(sent=25, waiting=30) == delivery.drain(tier2, redis, rows=25, budget_s=5)


def test_a_forgotten_turn_is_shown_no_more(tier2: Database, client: Client, redis: Redis) -> None:
    """A tier 2 on another machine learns of it with the next receipt."""
    say(tier2, "a secret plan")
    receipt(client, "k3v9wq", mark=1, high=1, hidden=[1])
    delivery.drain(tier2, redis, budget_s=5)
    with tier2.reading() as connection:
        assert 0 == connection.execute("SELECT count(*) FROM words").fetchone()[0]


def test_polling_for_receipts_writes_nothing(tier2: Database, client: Client, redis: Redis) -> None:
    """It happens after every turn: each write would be an fsync."""
    say(tier2, "a")
    delivery.drain(tier2, redis, budget_s=5)
    receipt(client, "k3v9wq", mark=1, high=1)
    delivery.drain(tier2, redis, budget_s=5)
    with tier2.reading() as connection:
        before = connection.total_changes
        delivery.drain(tier2, redis, budget_s=5)
        assert before == connection.total_changes
    assert 0 == counts(tier2)["pending"]
    assert "acked" in sql.WAITING
