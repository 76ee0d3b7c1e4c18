"""A damaged tier 2: kept aside, begun anew, and nothing that can still be read is lost or numbered twice."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from nextlevel.errors import ShortTermUnavailable
from nextlevel.producers.shortterm import rescue
from nextlevel.producers.shortterm.database import Database
from nextlevel.producers.shortterm.outbox import Draft, append, noted
from nextlevel.producers.shortterm.search import Reader, hide, search
from tests.support.damage import destroy, has_dbstat

OpenTier2 = Callable[..., Database]
TURNS = 60


def turn(user: str, **more: object) -> Draft:
    return Draft(session="s1", at="2026-06-01T09:00:00+02:00", user_text=user, assistant_text="Noted.", **more)  # type: ignore[arg-type]


def said(database: Database) -> list[str]:
    with database.reading() as connection:
        rows = connection.execute("SELECT * FROM outbox JOIN events USING (row) ORDER BY row").fetchall()
    return [json.loads(row["event"])["user_text"] for row in rows]


def kept_aside(database: Database) -> list[Path]:
    found = database.path.parent.glob("shortterm.db.damaged-*")
    return [path for path in found if not path.name.endswith(("-wal", "-shm"))]


def test_a_file_that_is_no_database_is_kept_aside_and_the_turn_is_kept(tier2: Database) -> None:
    """Under a new id: nobody knows which numbers were given."""
    tier2.path.parent.mkdir(parents=True)
    tier2.path.write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(ShortTermUnavailable, match="begins a new one"):
        said(tier2)
    written = append(tier2, turn("x"))
    assert ("x", "k3v9wq.", ":1") == (*said(tier2), written.id[:7], written.id[-2:])
    (aside,) = kept_aside(tier2)
    assert aside.read_bytes().startswith(b"this is no database")
    assert str(aside) in tier2.moved_aside
    assert tier2.moved_aside == noted(tier2, "moved_aside")


@pytest.mark.skipif(not has_dbstat(), reason="this SQLite can't tell where a table's pages are")
@pytest.mark.parametrize("table", ["events", "outbox"])
def test_what_can_be_read_is_taken_over_with_its_numbers(tier2: Database, table: str) -> None:
    """Also what stands behind the page that can't be; what was not delivered still is."""
    texts = [f"fact {n} " + os.urandom(400).hex() for n in range(TURNS)]
    for text in texts:
        append(tier2, turn(text))
    destroy(tier2, table)
    with pytest.raises(ShortTermUnavailable, match="it is damaged"):
        said(tier2)
    append(tier2, turn("afterwards"))
    *before, after = found = said(tier2)
    assert ("afterwards", 1) == (after, len(kept_aside(tier2)))
    assert before == [text for text in texts if text in before], "in order, each once"
    assert 0 < len(before) < TURNS
    assert {texts[0], texts[-1]} <= set(before)
    with tier2.reading() as connection:
        rows = connection.execute("SELECT install, seq, state FROM outbox").fetchall()
    assert len(found) == len(rows) == len({(row["install"], row["seq"]) for row in rows})
    assert {"pending"} == {row["state"] for row in rows}


def damage(database: Database) -> None:
    """As if SQLite had met a page that makes no sense."""
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with contextlib.suppress(ShortTermUnavailable), database.reading():
        raise error


def test_a_forgotten_turn_does_not_come_back(tier2: Database) -> None:
    """Its words are in no index; its event stays, since it may still be on its way."""
    secret = append(tier2, turn("my code name is Nightjar")).id
    append(tier2, turn("the api runs on port 8080"))
    hide(tier2, [secret])
    damage(tier2)
    append(tier2, turn("go on"))
    reader = Reader("default", "local")
    assert [] == search(tier2, "nightjar", 5, reader=reader)
    assert ["the api runs on port 8080"] == [each.user_text for each in search(tier2, "api port", 5, reader=reader)]


def test_a_repeat_is_still_known_and_a_new_number_is_new(tier2: Database) -> None:
    """What was told is known by its fingerprint, whichever file it stands in."""
    first = append(tier2, turn("yes"))
    damage(tier2)
    assert "k3v9wq:1" == first.id == append(tier2, turn("yes"), occurrence=0).id
    assert append(tier2, turn("no")).id.startswith("k3v9wq.")


def test_another_process_goes_on_in_the_new_file(tier2: Database, home: Path, open_tier2: OpenTier2) -> None:
    """What it wrote into the old one, which it has open, would be acknowledged and lost."""
    other = open_tier2(home)
    append(other, turn("before"))
    append(tier2, turn("before, too"))
    damage(tier2)
    append(tier2, turn("after"))
    append(other, turn("after, too"))
    assert ["before", "before, too", "after", "after, too"] == said(other) == said(tier2)
    assert (1, "") == (len(kept_aside(tier2)), other.moved_aside)


def test_two_that_find_the_damage_move_it_once(tier2: Database, home: Path, open_tier2: OpenTier2) -> None:
    """Else the second would move the new file aside."""
    other = open_tier2(home)
    append(other, turn("before"))
    append(tier2, turn("before, too"))
    damage(tier2)
    damage(other)
    append(tier2, turn("after"))
    append(other, turn("after, too"))
    assert ["before", "before, too", "after", "after, too"] == said(tier2)
    assert 1 == len(kept_aside(tier2))


def test_a_disk_without_room_for_a_new_file_leaves_the_old_one(
    tier2: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is moved before the new one is whole."""
    append(tier2, turn("before"))
    damage(tier2)
    with monkeypatch.context() as full:
        full.setattr(os, "link", _refused)
        with pytest.raises(ShortTermUnavailable, match="No space left"):
            append(tier2, turn("lost"))
    assert [] == [*kept_aside(tier2), *tier2.path.parent.glob(".shortterm.db*")]
    append(tier2, turn("after"))
    assert ["before", "after"] == said(tier2)


def _refused(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_who_opens_it_waits_for_a_rescue_but_not_for_ever(tier2: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was stopped in the middle of one must not stop the agent."""
    monkeypatch.setattr(rescue, "_WAIT_S", 0.05)
    tier2.path.parent.mkdir(parents=True)
    with rescue._locked(tier2.path, exclusive=True), pytest.raises(ShortTermUnavailable, match="does not end"):
        append(tier2, turn("x"))
    assert append(tier2, turn("y")).new
