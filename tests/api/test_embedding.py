"""The serving process and its embedder: it follows a change by itself, and works on without one."""

from __future__ import annotations

import asyncio

import pytest

from nextlevel import embedding
from nextlevel.auth import OPERATOR
from nextlevel.inference import PackagedEmbedder, measure, open_embedder
from nextlevel.store import vectors
from tests.api.conftest import client, scope, serving, settings_for
from tests.support import models
from tests.support.memory import person

QUESTION = {"query": "which port does the crm run on?", "scope": scope(), "deadline_ms": 5_000}


@pytest.fixture
def elsewhere(database, valkey):
    """Settings that name a model on a server, and that server."""
    with models.serving("other") as server:
        ours = settings_for(database.dsn, valkey.url)
        named = {"embed_base_url": server.base_url, "embed_model": "other", "embed_deadline_ms": 2_000}
        yield ours.model_copy(update=named), server


async def test_it_answers_by_the_old_vectors_and_follows_the_switch(elsewhere, monkeypatch):
    """Nobody should have to restart what serves, nor find memory half blind meanwhile."""
    monkeypatch.setattr(embedding, "LOOK_EVERY_S", 0.05)
    settings, server = elsewhere
    packaged = PackagedEmbedder()
    server.embed = await models.other_cosines(packaged)
    async with serving(settings_for(settings.need_postgres(), settings.need_redis())) as before:
        nele = await person(before.state.services.db, "nele", user="nele", embedder=packaged)
        await nele.tell("crm", "runs_on_port", "8080")
    async with serving(settings) as app, client(app, "nele") as asking, client(app, OPERATOR) as operator:
        services = app.state.services
        assert PackagedEmbedder.model == services.embedder.model
        assert (await asking.post("/v1/recall", json=QUESTION)).json()["vectors"]
        found = (await operator.get("/v1/status")).json()["store"]["vectors"]
        assert (PackagedEmbedder.model, 1, 0) == (found["model"], found["blocks"], found["blocks_waiting"])
        assert "nextlevel reembed" in found["note"]
        assert 200 == (await operator.get("/readyz")).status_code

        other = open_embedder(settings)
        async with services.db.pipeline() as conn:
            await vectors.switch(conn, embedding.active_of(other, await measure(other)))
        await other.close()
        while services.embedder.model != "other":
            await asyncio.sleep(0.01)
        answer = (await asking.post("/v1/recall", json=QUESTION)).json()
        assert ["8080"] == [item["block"]["object"] for item in answer["items"]], "found by words, until it is embedded"
        assert 1 == (await operator.get("/v1/status")).json()["store"]["vectors"]["blocks_waiting"]
    await packaged.close()


async def test_it_starts_without_the_server_that_embeds_and_takes_it_up_once_it_is_there(elsewhere, monkeypatch):
    """A GPU box that boots slower than the rest must not keep memory away; that it is missing has to be told."""
    monkeypatch.setattr(embedding, "_RETRY_S", 0.05)
    settings, server = elsewhere
    server.status = 503
    async with serving(settings) as app, client(app, "nele") as asking, client(app, OPERATOR) as operator:
        nele = await person(app.state.services.db, "nele", user="nele")
        await nele.tell("crm", "runs_on_port", "8080")
        answer = (await asking.post("/v1/recall", json=QUESTION)).json()
        assert (False, ["8080"]) == (answer["vectors"], [item["block"]["object"] for item in answer["items"]])
        ready = await operator.get("/readyz")
        assert (200, "degraded") == (ready.status_code, ready.json()["status"]), "who asks is not sent away"
        [reason] = ready.json()["reasons"]
        assert "words and graph alone" in reason
        assert "503" in reason
        found = (await operator.get("/v1/status")).json()["store"]["vectors"]
        assert ("other", 1, 1) == (found["model"], found["blocks"], found["blocks_waiting"])
        packaged = PackagedEmbedder()
        server.embed = await models.other_cosines(packaged)
        server.status = 200
        while app.state.services.embedder is None:
            await asyncio.sleep(0.01)
        assert "ready" == (await operator.get("/readyz")).json()["status"]
        await packaged.close()
