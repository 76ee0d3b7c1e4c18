"""What was recalled is written down behind the answer, redacted, and is never in recall's way."""

from __future__ import annotations

from typing import Any

import asyncpg

from nextlevel.auth import OPERATOR
from nextlevel.store.migrate import migrate
from tests.api.conftest import client, scope, serving, settings_for
from tests.support.memory import person


async def recalls(services: Any) -> list[Any]:
    await services.journal.flush()
    async with services.db.pipeline() as conn:
        return list(await conn.fetch("SELECT * FROM recalls ORDER BY recall_id"))


async def test_an_answer_is_noted_with_what_it_showed(app, as_nele, nele):
    """ "Who was shown this?" has to have an answer."""
    block = await nele.tell("crm", "runs_on_port", "8080")
    ask = {"query": "which port does the crm run on?", "scope": scope(), "session": "s\x00/1", "mode": "search"}
    assert (await as_nele.post("/v1/recall", json=ask)).json()["items"]
    [row] = await recalls(app.state.services)
    assert ("s/1", "search", False) == (row["session"], row["mode"], row["abstained"])
    assert [str(block.id)] == [each["block"] for each in row["shown"]]
    assert 0 < row["shown"][0]["score"] <= 1


async def test_a_secret_in_a_question_is_not_kept(app, as_nele):
    """Cut at 300 characters only after it was redacted: half a secret is not known as one."""
    secret = "ghp_" + "a1B2c3D4e5" * 4
    ask = {"query": f"{'deploy ' * 41} with {secret}", "scope": scope(), "mode": "search"}
    await as_nele.post("/v1/recall", json=ask)
    [row] = await recalls(app.state.services)
    assert "ghp_" not in row["query"]
    assert len(row["query"]) <= 300


async def test_a_greeting_is_no_recall(app, as_nele):
    await as_nele.post("/v1/recall", json={"query": "hello!", "scope": scope()})
    assert [] == await recalls(app.state.services)
    assert 0 == app.state.services.journal.figures().answers


async def test_figures_tell_speed_hits_and_abstentions(app, as_nele, nele):
    await nele.tell("crm", "runs_on_port", "8080")
    ask = {"query": "which port does the crm run on?", "scope": scope(), "deadline_ms": 5_000}
    rungs: list[str] = []
    while rungs.count("cache") < 2:  # it is kept once the query's vector was there in time
        rungs.append((await as_nele.post("/v1/recall", json=ask)).json()["rung"])
    await as_nele.post("/v1/recall", json={**ask, "query": "xylophone quartet rehearsal"})
    found, asked = app.state.services.journal.figures(), len(rungs) + 1
    assert (asked, 2 / asked, 1 / asked, 0) == (found.answers, found.hits, found.abstained, found.failed)
    assert found.p50_ms is not None
    assert found.p99_ms is not None
    assert 0 < found.p50_ms <= found.p99_ms


async def test_while_postgres_is_away_recalls_are_lost_and_counted(own_postgres, valkey):
    """Kept, they would grow without bound in the process that has to answer."""
    await migrate(own_postgres.admin_dsn)
    async with serving(settings_for(own_postgres.dsn, valkey.url)) as app, client(app, OPERATOR) as asking:
        services = app.state.services
        await person(services.db, "home")
        ask = {"query": "which port does the crm run on?", "scope": scope("home"), "mode": "search"}
        answer = await asking.post("/v1/recall", json=ask)
        assert (200, "") == (answer.status_code, answer.json().get("error", ""))
        await own_postgres.stop()
        await services.journal.flush()
        assert 1 == services.journal.figures().lost
        assert 503 == (await asking.post("/v1/recall", json={**ask, "scope": scope("home", profile="new")})).status_code
        assert 1 == services.journal.figures().failed


async def test_a_journal_that_can_not_be_written_takes_nothing_along(app, as_nele, nele, database):
    """A service on a database that is not migrated yet still answers, and still stops cleanly."""
    await nele.tell("crm", "runs_on_port", "8080")
    await renamed(database, "recalls", "elsewhere")
    ask = {"query": "which port does the crm run on?", "scope": scope(), "mode": "search"}
    assert (await as_nele.post("/v1/recall", json=ask)).json()["items"]
    services = app.state.services
    await services.journal.flush()
    assert 1 == services.journal.figures().lost
    await renamed(database, "elsewhere", "recalls")


async def renamed(database, old: str, new: str) -> None:
    admin = await asyncpg.connect(database.admin_dsn)
    await admin.execute(f"ALTER TABLE {old} RENAME TO {new}")
    await admin.close()
