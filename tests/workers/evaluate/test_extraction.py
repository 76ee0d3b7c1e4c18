"""The scorer sees what a user's memory would hold, under the status it would have there."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from nextlevel import settings
from nextlevel.workers import jobs
from nextlevel.workers.evaluate import extraction
from nextlevel.workers.evaluate.formats import Session
from nextlevel.workers.jobs import STAGES, Stage

DAY = datetime.fromisoformat("2026-05-12T23:30:00+02:00")


def session(id_: str, *said: str) -> Session:
    turns = [{"n": n, "at": DAY, "user": text, "assistant": "Noted."} for n, text in enumerate(said, 1)]
    return Session.model_validate({"id": id_, "turns": turns})


async def predicted(database, valkey, tmp_path: Path, *sessions: Session) -> extraction.Predicted:
    loaded = settings.load(
        data_dir=tmp_path, postgres_dsn=database.dsn, redis_url=valkey.url, accept_unenrolled=True, llm="off"
    )
    ticks: list[None] = []
    found = await extraction.predict(loaded, sessions, lambda: ticks.append(None))
    assert sum(len(each.turns) for each in sessions) == len(ticks)
    return found


async def test_a_fact_and_its_correction_are_told_with_their_status_turn_and_day(database, valkey, tmp_path):
    """Supersession is the store's work: only a way that goes through it can show it."""
    found = await predicted(
        database,
        valkey,
        tmp_path,
        session("one", "waldseilgarten-crm runs on port 8080."),
        session("two", "thanks!", "The port of waldseilgarten-crm is 8091 now, we moved it."),
    )
    assert [] == found.dead
    ports = [row for row in found.rows if row["predicate"] == "runs on port"]
    told = {(row["session"], row["turn"], row["status"], row["value"]) for row in ports}
    assert {("one", 1, "superseded", "8080"), ("two", 2, "active", "8091")} == told
    assert {"2026-05-12"} == {row["valid_from"] for row in ports}, "the day where the speaker is, not in UTC"
    assert all("waldseilgarten-crm" in row["entities"] for row in ports)
    assert {"+"} == {row["polarity"] for row in ports}


async def test_a_fact_that_is_told_in_two_sessions_counts_in_both(database, valkey, tmp_path):
    """It is one block in memory; each session's labels look for it all the same."""
    said = "waldseilgarten-crm runs on port 8080."
    found = await predicted(database, valkey, tmp_path, session("one", said, said), session("two", said))
    assert [("one", 1), ("two", 1)] == [(row["session"], row["turn"]) for row in found.rows]


async def test_secrets_go_where_the_plugin_takes_them_out(database, valkey, tmp_path):
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    found = await predicted(database, valkey, tmp_path, session("one", f"Remember: the deploy token is {key}"))
    assert key not in str(found.rows)


async def test_turns_that_die_are_named(database, valkey, tmp_path, monkeypatch: pytest.MonkeyPatch):
    """A figure that is low because our code broke must not pass for a figure."""

    async def act(ctx, claim):
        raise ZeroDivisionError

    monkeypatch.setitem(jobs.STAGES, "extract", Stage(STAGES["extract"].takes, act))
    found = await predicted(database, valkey, tmp_path, session("one", "waldseilgarten-crm runs on port 8080."))
    assert ([], ["eval:1: ZeroDivisionError"]) == (found.rows, found.dead)


async def test_a_store_that_stays_away_ends_it(database, valkey, tmp_path, monkeypatch: pytest.MonkeyPatch):
    """Nobody waits for ever, in an evaluation least of all."""
    from nextlevel.errors import ModelBusy

    async def act(ctx, claim):
        raise ModelBusy("gone fishing")

    monkeypatch.setitem(jobs.STAGES, "extract", Stage(STAGES["extract"].takes, act))
    monkeypatch.setattr(extraction, "PATIENCE_S", 0.1)
    with pytest.raises(extraction.Stuck, match="eval:1 waits to leave received"):
        await predicted(database, valkey, tmp_path, session("one", "waldseilgarten-crm runs on port 8080."))
