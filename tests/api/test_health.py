"""Health judges whether memory works, not whether a process lives; and the process lives while its stores do not."""

from nextlevel.auth import OPERATOR
from nextlevel.store import turns
from nextlevel.store.migrate import migrate
from tests.api.conftest import client, scope, serving, settings_for
from tests.support.builders import event
from tests.support.builders import scope as scope_of


async def test_a_service_that_works_is_ready(as_nobody):
    assert (await as_nobody.get("/healthz")).json()["status"] == "alive"
    ready = await as_nobody.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "reasons": []})


async def test_it_starts_without_its_stores_and_works_once_they_are_there(own_postgres, own_valkey):
    """After a power cut everything starts at once, in any order."""
    await migrate(own_postgres.admin_dsn)
    await own_postgres.stop()
    await own_valkey.stop()
    async with serving(settings_for(own_postgres.dsn, own_valkey.url)) as app, client(app, OPERATOR) as asking:
        ready = await asking.get("/readyz")
        assert ready.status_code == 503
        assert {reason.split(":")[0] for reason in ready.json()["reasons"]} == {"postgres", "redis"}
        assert (await asking.get("/healthz")).status_code == 200
        recall = await asking.post("/v1/recall", json={"query": "which port?", "scope": scope()})
        assert (recall.status_code, recall.json()["error"]["code"]) == (503, "unavailable")
        assert recall.headers["retry-after"]

        await own_postgres.start()
        await own_valkey.start()
        assert (await asking.get("/readyz")).status_code == 200


async def test_turns_that_nobody_works_on_are_told(app, as_nobody, postgres, database):
    """A queue that grew for hours beside a green health check is the report that this answers."""
    services = app.state.services
    owner = await scope_of(services.db)
    async with services.db.pipeline() as conn:
        await turns.receive(conn, event(), owner)
    assert (await as_nobody.get("/readyz")).status_code == 200
    async with services.db.pipeline() as conn:
        await conn.execute("UPDATE turns SET received_at = received_at - interval '1 hour'")
    ready = await as_nobody.get("/readyz")
    assert ready.status_code == 503
    assert "1 turns are received" in ready.json()["reasons"][0]


async def test_an_unmigrated_database_is_told_with_its_cure(own_postgres, valkey):
    """The message names the command."""
    async with serving(settings_for(own_postgres.dsn, valkey.url)) as app, client(app, OPERATOR) as asking:
        ready = await asking.get("/readyz")
        assert ready.status_code == 503
        assert "nextlevel migrate" in ready.json()["reasons"][0]
