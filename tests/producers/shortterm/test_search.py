"""Full-text search of recent turns, for the time when nothing else answers."""

from __future__ import annotations

import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nextlevel.producers.shortterm.database import Database
from nextlevel.producers.shortterm.outbox import Draft, append
from nextlevel.producers.shortterm.retention import prune, prune_when_due
from nextlevel.producers.shortterm.search import FLOOR, Reader, hide, needed, recent, search

ME = Reader("default", "local")


def say(database: Database, user: str, assistant: str = "Noted.", *, session: str = "s1", **more: object) -> str:
    at = more.pop("at", "2026-06-01T09:00:00+02:00")
    draft = Draft(session=session, at=at, user_text=user, assistant_text=assistant, **more)  # type: ignore[arg-type]
    return append(database, draft).id


def found(database: Database, query: str, reader: Reader = ME, **more: object) -> list[str]:
    return [each.user_text for each in search(database, query, 5, reader=reader, **more)]  # type: ignore[arg-type]


@pytest.fixture
def told(tier2: Database) -> Database:
    """A few turns about many things, so that words differ in weight."""
    for text in (
        "The api of waldseilgarten-crm runs on port 8080",
        "Flo does the frontend with React",
        "Meine Prüfung ist am Freitag in der Straße der Jugend",
        "数据库在东京的服务器上",
        "I edited auth.service.ts on line 47",
        *(f"please look at ticket {n} and tell me what the status is" for n in range(20)),
    ):
        say(tier2, text)
    return tier2


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("which port does the api use?", "The api of waldseilgarten-crm runs on port 8080"),
        ("what does flo do", "Flo does the frontend with React"),
        ("PRUFUNG freitag", "Meine Prüfung ist am Freitag in der Straße der Jugend"),
        ("strasse der jugend", "Meine Prüfung ist am Freitag in der Straße der Jugend"),
        ("东京 数据库", "数据库在东京的服务器上"),
        ("auth.service.ts", "I edited auth.service.ts on line 47"),
        ("waldseilgarten-crm", "The api of waldseilgarten-crm runs on port 8080"),
    ],
)
def test_a_turn_is_found_by_any_of_its_rarer_words(told: Database, query: str, expected: str) -> None:
    """Case, accents and word forms don't count; identifiers and CJK are found too."""
    assert [expected] == found(told, query)


@pytest.mark.parametrize(
    "query",
    ["", "?!", "how do I renew a passport", "the and of", 'AND OR NOT NEAR("x" *)', '"', "status of the moon landing"],
)
def test_nothing_known_gives_nothing(told: Database, query: str) -> None:
    """A common word in common is no knowledge, and no query breaks the syntax of the index."""
    assert [] == found(told, query)


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.tuples(st.floats(0.1, 9), st.integers(1, 999)), max_size=6),
    st.data(),
)
def test_no_turn_that_is_shown_lacks_every_needed_term(weights, data) -> None:
    """Common words are not looked up, since half of all turns hold one; what is found must be the same."""
    held = data.draw(st.sets(st.sampled_from(sorted(weights))) if weights else st.just(set()))
    share = sum(weights[term][0] for term in held) / (sum(weight for weight, _ in weights.values()) or 1)
    assert share < FLOOR or held.intersection(needed(weights)) or not held


def test_what_one_person_said_is_not_shown_to_another(tier2: Database) -> None:
    """One gateway serves many people from one home."""
    say(tier2, "my salary is secret", principal="telegram:1")
    say(tier2, "my salary is public", principal="telegram:2")
    say(tier2, "my salary is elsewhere", principal="telegram:1", profile="work")
    assert ["my salary is secret"] == found(tier2, "salary", Reader("default", "telegram:1"))


def test_a_group_sees_what_was_said_in_that_group_only(tier2: Database) -> None:
    """What someone said in private stays there."""
    say(tier2, "the party is on friday", principal="telegram:1", chat="telegram:g1")
    say(tier2, "the party is a surprise", principal="telegram:1")
    assert ["the party is on friday"] == found(tier2, "party", Reader("default", "telegram:2", "telegram:g1"))


def test_the_last_turns_come_newest_first_and_none_that_is_too_long(tier2: Database) -> None:
    """How long it is as text: packed, a long one is short."""
    for text in ("first", "long " * 20_000, "random " + os.urandom(20_000).hex(), "last"):
        say(tier2, text)
    turns = recent(tier2, ["s1"], 4, reader=ME, longest=40_000)
    assert ["last", "first"] == [each.user_text for each in turns]
    assert ["last", "random", "long"] == [each.user_text.split()[0] for each in recent(tier2, ["s1"], 3, reader=ME)]


def test_the_last_turns_of_the_session_are_left_out(told: Database) -> None:
    """The model still has them before its eyes."""
    say(told, "the staging host is birke-02", session="now")
    assert [] == found(told, "staging host", session="now", skip_last=5)
    assert ["the staging host is birke-02"] == found(told, "staging host", session="other", skip_last=5)


def test_a_forgotten_turn_is_not_found(told: Database) -> None:
    """Forgetting reaches every rung."""
    turn = say(told, "my code name is Nightjar")
    hide(told, [turn])
    assert [] == found(told, "nightjar")


def ack(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("UPDATE outbox SET state = 'acked'")


def held(database: Database) -> list[str]:
    with database.reading() as connection:
        return [row[0] for row in connection.execute("SELECT session FROM outbox WHERE held = 1 ORDER BY row")]


def test_old_sessions_are_emptied_and_the_last_ten_stay(tier2: Database) -> None:
    """30 days or ten sessions, whichever is more."""
    for n in range(14):
        say(tier2, f"the word of session {n}", session=f"s{n}")
    ack(tier2)
    assert 4 == prune(tier2, now=time.time() + 400 * 86_400)
    assert [f"s{n}" for n in range(4, 14)] == held(tier2)
    assert [] == found(tier2, "word session 3")


def test_young_turns_stay_however_many_sessions_there_are(tier2: Database) -> None:
    """Whichever is more."""
    for n in range(14):
        say(tier2, f"word {n}", session=f"s{n}", at="2026-06-20T09:00:00+02:00")
    ack(tier2)
    assert 0 == prune(tier2, now=1_782_000_000)


def test_what_is_not_acknowledged_is_never_emptied(tier2: Database) -> None:
    """It may be the only copy."""
    for n in range(14):
        say(tier2, f"word {n}", session=f"s{n}")
    assert 0 == prune(tier2, now=time.time() + 400 * 86_400)


def test_repeats_are_still_counted_after_retention(tier2: Database) -> None:
    """Else the next "yes" in a chat of months would have the fingerprint of the first, and be lost as known."""
    first = say(tier2, "yes", "ok", session="chat")
    for n in range(11):
        say(tier2, f"word {n}", session=f"s{n}")
    ack(tier2)
    prune(tier2, now=time.time() + 400 * 86_400)
    assert "chat" not in held(tier2)
    assert first != say(tier2, "yes", "ok", session="chat")


def test_retention_runs_once_an_hour(tier2: Database) -> None:
    """It is asked for after every turn."""
    say(tier2, "x")
    ack(tier2)
    now = time.time() + 400 * 86_400
    prune_when_due(tier2, now=now)
    for n in range(12):
        say(tier2, f"word {n}", session=f"s{n}")
    ack(tier2)
    assert 0 == prune_when_due(tier2, now=now + 60)
    assert 0 < prune_when_due(tier2, now=now + 3700)
    say(tier2, "y", session="s99")
    ack(tier2)
    with tier2.transaction() as connection:
        connection.execute("UPDATE notes SET value = ? WHERE name = 'pruned_at'", [str(now + 400 * 86_400)])
    assert 0 < prune_when_due(tier2, now=now + 3800), "also where the clock was ahead at the last time"
