"""Writing to tier 2: durable, numbered without holes, and the same turn told twice is one."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nextlevel.errors import MalformedEvent, Misconfigured, ShortTermUnavailable
from nextlevel.event import COMPRESS_ABOVE_BYTES, MAX_EVENT_BYTES, check, decode
from nextlevel.producers.shortterm.database import Database, journal
from nextlevel.producers.shortterm.kept import entry_fields, opened
from nextlevel.producers.shortterm.outbox import Draft, append, counts, injected
from nextlevel.producers.shortterm.search import Reader, search

OpenTier2 = Callable[..., Database]


def turn(user: str, assistant: str = "Noted.", *, session: str = "s1", **more: object) -> Draft:
    return Draft(session=session, at="2026-06-01T09:00:00+02:00", user_text=user, assistant_text=assistant, **more)  # type: ignore[arg-type]


def rows(database: Database) -> list[sqlite3.Row]:
    with database.reading() as connection:
        return connection.execute("SELECT * FROM outbox JOIN events USING (row) ORDER BY row").fetchall()


def test_turns_are_numbered_from_one_and_without_a_hole(tier2: Database) -> None:
    """A hole would be a gap that the receipts report for ever."""
    assert ["k3v9wq:1", "k3v9wq:2", "k3v9wq:3"] == [append(tier2, turn(f"fact {n}")).id for n in range(3)]


def test_what_is_written_is_a_valid_turn_event(tier2: Database) -> None:
    """Ingest reads it with the same rules."""
    append(tier2, turn("We deploy on Thursdays.", meta={"platform": "cli"}))
    append(tier2, turn("And never on Fridays."))
    first, second = (check(json.loads(row["event"])) for row in rows(tier2))
    assert ("We deploy on Thursdays.", 1, {"platform": "cli"}) == (first.user_text, first.turn, first.meta)
    assert 2 == second.turn


def test_the_same_words_said_twice_live_are_two_turns(tier2: Database) -> None:
    """A user who says "yes" twice said it twice."""
    first, second = append(tier2, turn("yes", "ok")), append(tier2, turn("yes", "ok"))
    assert (True, True) == (first.new, second.new)
    assert first.id != second.id


def test_a_conversation_told_again_is_known_turn_by_turn(tier2: Database) -> None:
    """An import or a second run of the demo doubles nothing, and its repeats are still repeats."""
    said = [append(tier2, turn("yes", "ok")), append(tier2, turn("yes", "ok"))]
    again = [append(tier2, turn("yes", "ok"), occurrence=n) for n in range(3)]
    assert [w.id for w in said] == [w.id for w in again[:2]]
    assert [False, False, True] == [w.new for w in again]


def test_a_turn_known_before_burns_no_number(tier2: Database) -> None:
    """The counter is a row, not AUTOINCREMENT: that one would leave a gap for ever."""
    append(tier2, turn("one"))
    append(tier2, turn("one"), occurrence=0)
    assert "k3v9wq:2" == append(tier2, turn("two")).id


def test_a_refused_turn_burns_no_number(tier2: Database) -> None:
    """The number is taken in the transaction that fails with it."""
    with pytest.raises(MalformedEvent):
        append(tier2, turn("x", session=""))
    assert "k3v9wq:1" == append(tier2, turn("two")).id


def test_other_people_saying_the_same_are_not_told_apart_by_words_alone(tier2: Database) -> None:
    """The fingerprint holds the person and the session: two people may say the same."""
    ids = {append(tier2, turn("hello", principal=who, session=s), occurrence=0).id for who in "ab" for s in "xy"}
    assert 4 == len(ids)


def test_a_copied_home_counts_under_an_id_of_its_own(
    tier2: Database, home: Path, tmp_path: Path, open_tier2: OpenTier2
) -> None:
    """`hermes profiles --clone-all` copies id and outbox: both homes would use the same numbers for other turns."""
    append(tier2, turn("said in the first home"))
    tier2.close()
    copy = tmp_path / "clone"
    shutil.copytree(home, copy)
    cloned = open_tier2(copy)

    theirs, ours = append(cloned, turn("said in the clone")).id, append(tier2, turn("said at home")).id
    assert "k3v9wq:2" == ours
    install, _, seq = theirs.partition(":")
    assert install.startswith("k3v9wq.")
    assert 6 == len(install.partition(".")[2])
    assert "1" == seq
    assert theirs.replace(":1", ":2") == append(cloned, turn("and again")).id


def test_an_enrolment_copied_without_its_outbox_counts_under_an_id_of_its_own(
    home: Path, open_tier2: OpenTier2
) -> None:
    """The file says which home was enrolled: this is another one."""
    database = open_tier2(home, copied=True)
    assert append(database, turn("x")).id.startswith("k3v9wq.")


def test_a_home_that_nobody_enrolled_has_an_id_of_its_own(home: Path, open_tier2: OpenTier2) -> None:
    """All of them are called `local`."""
    database = open_tier2(home, base="local")
    assert append(database, turn("x")).id.startswith("local.")


def test_a_home_enrolled_anew_uses_the_new_id(tier2: Database) -> None:
    """And the turns under the old one stay deliverable."""
    append(tier2, turn("before"))
    tier2.base = "zz77"
    assert "zz77:1" == append(tier2, turn("after")).id
    assert ["k3v9wq", "zz77"] == [row["install"] for row in rows(tier2)]


def test_two_processes_on_one_home_share_the_numbers(tier2: Database, home: Path) -> None:
    """A gateway and a terminal at once: no number twice, none missing, nobody's turn refused."""
    code = (
        "import sys; from pathlib import Path\n"
        "from nextlevel.producers.shortterm.database import Database, path_of\n"
        "from nextlevel.producers.shortterm.outbox import Draft, append\n"
        "home = Path(sys.argv[1]); db = Database(path_of(home), home=home.resolve(), base='k3v9wq')\n"
        "for n in range(25):\n"
        "    append(db, Draft(session=sys.argv[2], at='2026-06-01T09:00:00+02:00', user_text=f'fact {n}'))\n"
    )
    both = [subprocess.Popen([sys.executable, "-c", code, str(home), name]) for name in ("a", "b")]
    assert [0, 0] == [each.wait(60) for each in both]
    assert list(range(1, 51)) == sorted(row["seq"] for row in rows(tier2))


def test_threads_share_one_connection(tier2: Database) -> None:
    """prefetch and sync_turn run on different threads."""
    threads = [threading.Thread(target=append, args=(tier2, turn(f"fact {n}"))) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert list(range(1, 9)) == [row["seq"] for row in rows(tier2)]


def test_a_turn_survives_a_kill_right_after_it_was_written(home: Path, tier2: Database) -> None:
    """`hermes -z` ends with os._exit: no atexit, no thread, no second chance."""
    code = (
        "import os, sys; from pathlib import Path\n"
        "from nextlevel.producers.shortterm.database import Database, path_of\n"
        "from nextlevel.producers.shortterm.outbox import Draft, append\n"
        "home = Path(sys.argv[1])\n"
        "append(Database(path_of(home), home=home.resolve(), base='k3v9wq'),"
        " Draft(session='s', at='2026-06-01T09:00:00+02:00', user_text='kept'))\n"
        "os._exit(9)\n"
    )
    assert 9 == subprocess.run([sys.executable, "-c", code, str(home)], timeout=60).returncode
    assert ["kept"] == [json.loads(row["event"])["user_text"] for row in rows(tier2)]


def test_a_commit_is_synced_to_the_disk(tier2: Database) -> None:
    """WAL alone survives a kill; with synchronous=FULL it survives a power cut."""
    with tier2.reading() as connection:
        assert "wal" == connection.execute("PRAGMA journal_mode").fetchone()[0]
        assert 2 == connection.execute("PRAGMA synchronous").fetchone()[0]


def test_without_shared_memory_the_rollback_journal_serves(tmp_path: Path) -> None:
    """A network file system can't do WAL. SQLite's dot-file locking can't either, so it stands for one."""
    connection = sqlite3.connect(f"file:{tmp_path / 'x.db'}?vfs=unix-dotfile", uri=True)
    assert "delete" == journal(connection)
    connection.close()


def test_a_forked_child_opens_a_connection_of_its_own(tier2: Database) -> None:
    """SQLite forbids to carry one over a fork; a gateway forks."""
    from nextlevel.producers.shortterm.database import of_home

    database = of_home(tier2.home, "k3v9wq")
    append(database, turn("parent"))
    child = os.fork()
    if child == 0:
        try:
            append(database, turn("child"))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    append(database, turn("parent again"))
    database.close()
    assert ["parent", "child", "parent again"] == [json.loads(row["event"])["user_text"] for row in rows(tier2)]


def test_a_full_disk_is_a_clear_error_and_passes_with_its_cause(tier2: Database) -> None:
    """The chat goes on without memory; the person is told what to do; the next turn is kept again."""
    append(tier2, turn("fits"))
    with tier2.reading() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(ShortTermUnavailable, match="disk is full; free some space"):
        append(tier2, turn("too much " * 20_000))
    with tier2.reading() as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert "k3v9wq:2" == append(tier2, turn("fits again")).id


def test_a_file_of_a_newer_version_is_refused(tier2: Database) -> None:
    """An old plugin must not write what it does not understand."""
    append(tier2, turn("x"))
    with tier2.reading() as connection:
        connection.execute("PRAGMA user_version = 99")
    tier2.close()
    with pytest.raises(Misconfigured, match="newer version"):
        append(tier2, turn("y"))


def test_a_file_of_the_first_version_is_brought_up_to_date(
    tier2: Database, open_tier2: OpenTier2, tmp_path: Path
) -> None:
    """With every turn in it and where each is on its way, and to the very tables of a new file."""
    tier2.path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(tier2.path)) as first:
        first.executescript(Path(__file__).with_name("schema_1.sql").read_text(encoding="utf-8"))
        first.execute("INSERT INTO identities VALUES ('k3v9wq', ?, 4, 1, 1, 1, 0)", [str(tier2.home)])
        first.executemany(
            "INSERT INTO outbox (install, seq, fp, pair, kind, lane, profile, principal, session, turn, at, event,"
            " state) VALUES ('k3v9wq', :n, :n, :n, 'turn', 'live', 'default', 'local', 's1', :n, 0, :event, :state)",
            [
                {"n": 1, "event": None, "state": "acked"},
                {"n": 2, "event": "two", "state": "published"},
                {"n": 3, "event": "three", "state": "pending"},
            ],
        )
        first.commit()
    assert "k3v9wq:4" == append(tier2, turn("x")).id
    assert [(2, "published", "two"), (3, "pending", "three")] == [
        (row["seq"], row["state"], row["event"]) for row in rows(tier2)[:2]
    ]
    with tier2.reading() as connection:
        held = connection.execute("SELECT held FROM outbox ORDER BY row").fetchall()
    assert [0, 1, 1, 1] == [row["held"] for row in held], "the first was emptied by retention"
    new = open_tier2(tmp_path / "new")
    append(new, turn("x"))
    assert _tables(new) == _tables(tier2)


def test_a_file_of_the_second_version_keeps_its_large_turns(tier2: Database) -> None:
    """It held them as text: they still are sent, packed by then, and found."""
    large = "the api runs on port 8080; " + "x " * COMPRESS_ABOVE_BYTES
    append(tier2, turn(large))
    with tier2.reading() as connection:
        text = opened(rows(tier2)[0]["event"])
        connection.execute("UPDATE events SET event = ?", [text])
        connection.execute("PRAGMA user_version = 2")
    tier2.close()
    [row] = rows(tier2)
    assert isinstance(row["event"], str)
    assert large == decode({name.encode(): value for name, value in entry_fields(row["event"]).items()}).user_text
    assert [large] == [each.user_text for each in search(tier2, "api port", 5, reader=Reader())]


def test_a_large_turn_is_kept_packed(tier2: Database) -> None:
    """A megabyte is written twice, into the journal and into the file, while the host waits."""
    append(tier2, turn("small"))
    append(tier2, turn("large " + "log line of a tool " * 50_000))
    small, large = (row["event"] for row in rows(tier2))
    assert ("small", True) == (json.loads(small)["user_text"], len(large) < 50_000)
    assert json.loads(opened(large))["user_text"].startswith("large log line of a tool")


def test_an_event_larger_than_one_may_be_is_refused(tier2: Database) -> None:
    """By what it has as JSON: packed it would pass, and ingest would quarantine it."""
    with pytest.raises(MalformedEvent, match="too_large"):
        append(tier2, turn("x " * MAX_EVENT_BYTES))
    assert [] == rows(tier2)


def _tables(database: Database) -> dict[str, tuple[list[tuple[object, ...]], set[str]]]:
    """Each table's columns, and the indexes."""
    with database.reading() as connection:
        named = connection.execute("SELECT type, name, tbl_name FROM sqlite_master").fetchall()
        return {
            row["name"]: (
                [tuple(column) for column in connection.execute(f"PRAGMA table_xinfo({row['name']})")],
                {index["name"] for index in named if index["type"] == "index" and index["tbl_name"] == row["name"]},
            )
            for row in named
            if row["type"] == "table"
        }


def test_a_failure_to_open_is_not_remembered(tier2: Database) -> None:
    """One passing trouble must not end memory for the session."""
    tier2.path.parent.mkdir(parents=True)
    tier2.path.mkdir()
    with pytest.raises(ShortTermUnavailable):
        append(tier2, turn("x"))
    tier2.path.rmdir()
    assert append(tier2, turn("x")).new


def test_lines_that_recall_injected_are_remembered_with_the_turn(tier2: Database) -> None:
    """They are never learnt again, in any later process either."""
    append(tier2, turn("x"), injected=[b"h1", b"h2"])
    append(tier2, turn("y"), injected=[b"h2"])
    assert {b"h1", b"h2"} == injected(tier2, "s1")
    assert set() == injected(tier2, "s2")


def test_a_person_can_be_told_what_waits(tier2: Database) -> None:
    """`hermes nextlevel status` shows it."""
    append(tier2, turn("x"))
    told = counts(tier2)
    assert (1, 1, 0, "k3v9wq") == (told["events"], told["pending"], told["acknowledged"], told["install"])
    assert told["oldest_waiting_at"] == told["last_turn_at"] == 1_780_297_200.0
