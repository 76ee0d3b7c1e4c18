"""Memory on real stores with the real embedder, and the service that answers from it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from nextlevel.cache import Cache, connection
from nextlevel.inference import Embedder, open_embedder
from nextlevel.recall import Answer, Mode, Recall, Request
from nextlevel.settings import Settings
from nextlevel.store.pool import Database
from tests.support.memory import Memory, person
from tests.support.stores import Database as TestDatabase
from tests.support.stores import TestValkey


@pytest.fixture(scope="session")
async def embedder() -> AsyncIterator[Embedder]:
    opened = open_embedder(Settings())
    yield opened
    await opened.close()


@pytest.fixture
async def db(database: TestDatabase) -> AsyncIterator[Database]:
    opened = await Database.connect(database.dsn)
    yield opened
    await opened.close()


@pytest.fixture
async def cache(valkey: TestValkey, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cache]:
    monkeypatch.setattr(connection, "_WAIT_S", 10.0)  # a busy machine is no Redis that hangs
    opened = Cache(valkey.url)
    yield opened
    await opened.close()


@pytest.fixture
async def nele(db: Database, embedder: Embedder, cache: Cache) -> Memory:
    return await person(db, "nele", user="nele", embedder=embedder, cache=cache)


@pytest.fixture
async def recall(database: TestDatabase, db: Database, cache: Cache, embedder: Embedder) -> AsyncIterator[Recall]:
    opened = Recall(Settings(postgres_dsn=database.dsn), db, cache, embedder)
    yield opened
    await opened.close()


def question(memory: Memory, query: str, **more: Any) -> Request:
    """A question of this person's, that waits for everything unless a test says otherwise."""
    fields: dict[str, Any] = {
        "query": query,
        "install": memory.install,
        "profile": memory.scope.profile,
        "principal": memory.principal,
        "mode": Mode.PREFETCH,
        "budget_tokens": 400,
        "deadline_ms": None,
    }
    return Request(**{**fields, **more})


Ask = Callable[..., Any]


@pytest.fixture
def ask(recall: Recall, nele: Memory) -> Ask:
    """Ask in Nele's name."""

    async def asked(query: str, memory: Memory = nele, **more: Any) -> Answer:
        return await recall.answer(question(memory, query, **more))

    return asked


@pytest.fixture
def hot(ask: Ask, recall: Recall) -> Ask:
    """Ask in Nele's name, once her scope is held hot as of now."""

    async def asked(query: str, memory: Memory, **more: Any) -> Answer:
        truth = await recall._truth(memory.scope)
        while await recall._meaning.hot.get(memory.scope, truth) is None:
            task = recall._meaning.hot._moving.get(memory.scope.readable)
            if task is not None:
                await task
        return await recall.answer(question(memory, query, **more))

    return asked
