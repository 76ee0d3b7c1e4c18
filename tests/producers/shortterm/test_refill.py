"""What a rescued file lacks comes back page by page, each turn once, and not beyond what retention keeps."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from nextlevel.event import Event
from nextlevel.producers.shortterm.database import Database
from nextlevel.producers.shortterm.outbox import Draft, append, note, off_record
from nextlevel.producers.shortterm.refill import Past, due, take, told
from nextlevel.producers.shortterm.search import Reader, recent, search
from tests.producers.shortterm.test_rescue import damage, turn

READER = Reader("default", "local")
DAY = 86_400


def rescued(database: Database) -> None:
    append(database, turn("before"))
    damage(database)
    append(database, turn("after"))


def past(number: int, text: str, *, days: float = 1, session: str = "s1", chat: str | None = None) -> Past:
    at = datetime.fromtimestamp(time.time() - days * DAY, UTC).isoformat()
    fp = hashlib.sha256(text.encode()).hexdigest()
    return Past(Event(f"k3v9wq.old:{number}", fp, "turn", session, number, at, user_text=text), chat)


def took(database: Database, page: Sequence[Past], after: str | None = None) -> int:
    asked = due(database)
    assert asked is not None
    return take(database, asked, page, after)


def test_a_file_that_was_never_damaged_asks_for_nothing(tier2: Database) -> None:
    append(tier2, turn("x"))
    assert due(tier2) is None
    assert told(tier2) is None


def test_what_came_back_is_found_and_stands_before_what_was_said_since(tier2: Database) -> None:
    """Undo and the off record look for the last turns: an old one must not pass for the last."""
    rescued(tier2)
    assert 2 == took(tier2, [past(8, "the crm runs on birch-2"), past(7, "deploys are on Thursdays")])
    assert ["the crm runs on birch-2"] == [each.user_text for each in search(tier2, "birch-2 crm", 5, reader=READER)]
    found = recent(tier2, ["s1"], 9, reader=READER)
    assert ["after", "before", "the crm runs on birch-2", "deploys are on Thursdays"] == [e.user_text for e in found]
    assert found[2].id == "k3v9wq.old:8"
    assert (None, "2 turns that it lacked came back from the memory service") == (due(tier2), told(tier2))


def test_its_numbers_are_never_given_again(tier2: Database) -> None:
    rescued(tier2)
    took(tier2, [past(8, "x")])
    with tier2.reading() as connection:
        rows = connection.execute("SELECT next_seq, is_current FROM identities WHERE install = 'k3v9wq.old'").fetchall()
    assert [(9, 0)] == [tuple(row) for row in rows]


def test_a_page_that_another_process_took_is_not_written_twice(tier2: Database) -> None:
    """Nor does who comes late with it turn the other back to where it began."""
    rescued(tier2)
    asked = due(tier2)
    assert asked is not None
    page = [past(8, "the crm runs on birch-2")]
    assert 1 == take(tier2, asked, page, "second")
    again = due(tier2)
    assert again is not None
    assert "second" == again.after
    assert 1 == take(tier2, again, [*page, past(7, "y")], "third"), "nor a turn that came with the page before"
    assert 0 == take(tier2, asked, page, "second")
    last = due(tier2)
    assert last is not None
    assert "third" == last.after


def test_it_ends_where_retention_does(tier2: Database) -> None:
    """What is fetched beyond that would be deleted within the hour."""
    rescued(tier2)
    page = [past(90 - n, f"talk {n}", days=40 + n, session=f"old {n}") for n in range(12)]
    assert 10 == took(tier2, page, "there is more")
    assert due(tier2) is None


def test_each_person_gets_their_own_back(tier2: Database) -> None:
    """Also who comes only after the rescue."""
    rescued(tier2)
    took(tier2, [past(8, "x")])
    append(tier2, turn("hello", principal="telegram:7"))
    asked = due(tier2)
    assert asked is not None
    assert ("default", "telegram:7", None) == (asked.profile, asked.principal, asked.after)


def test_what_was_said_in_a_group_is_told_to_that_group_alone(tier2: Database) -> None:
    rescued(tier2)
    took(tier2, [past(8, "the crm runs on birch-2", chat="telegram:-1")])
    group, other = Reader("default", "x", "telegram:-1"), Reader("default", "x", "telegram:-2")
    assert 1 == len(search(tier2, "birch-2", 5, reader=group))
    assert [] == search(tier2, "birch-2", 5, reader=other)


def test_it_waits_for_an_order_to_forget_that_is_not_delivered(tier2: Database) -> None:
    """Else what is to be forgotten would come back before the service knows of it."""
    rescued(tier2)
    append(tier2, Draft(session="s1", at="2026-06-01T09:00:00+02:00", kind="forget", body={"text": "birch-2"}))
    assert due(tier2) is None
    with tier2.transaction() as connection:
        connection.execute("UPDATE outbox SET state = 'acked'")
    assert due(tier2) is not None


def test_a_session_that_was_taken_off_the_record_since_does_not_come_back(tier2: Database) -> None:
    rescued(tier2)
    note(tier2, off_record("private"), "asked")
    assert 1 == took(tier2, [past(8, "my code name is Nightjar", session="private"), past(7, "the api is on 8080")])
    assert [] == search(tier2, "nightjar", 5, reader=READER)
