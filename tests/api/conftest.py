"""The API on real stores, asked over HTTP in the names of two people and of the operator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI

from nextlevel.api import create_app
from nextlevel.auth import OPERATOR, token
from nextlevel.settings import Settings
from tests.support.memory import Memory, person
from tests.support.stores import Database as TestDatabase
from tests.support.stores import TestValkey

SECRET = "a secret for tests"


def settings_for(postgres_dsn: str, redis_url: str) -> Settings:
    return Settings(postgres_dsn=postgres_dsn, redis_url=redis_url, secret=SECRET)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[FastAPI]:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        yield app


def client(app: FastAPI, purpose: str | None) -> httpx.AsyncClient:
    """A client that presents the token for `purpose`, or none."""
    headers = {} if purpose is None else {"Authorization": f"Bearer {token(SECRET.encode(), purpose)}"}
    # As over a socket: what nobody expected is an answer of 500, not an exception in the client.
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers, timeout=30)


@pytest.fixture
async def app(database: TestDatabase, valkey: TestValkey) -> AsyncIterator[FastAPI]:
    async with serving(settings_for(database.dsn, valkey.url)) as running:
        yield running


@pytest.fixture
async def nele(app: FastAPI) -> Memory:
    services = app.state.services
    return await person(services.db, "nele", user="nele", embedder=services.embedder, cache=services.cache)


@pytest.fixture
async def kim(app: FastAPI) -> Memory:
    services = app.state.services
    return await person(services.db, "kim", user="kim", embedder=services.embedder, cache=services.cache)


@pytest.fixture
async def as_nele(app: FastAPI, nele: Memory) -> AsyncIterator[httpx.AsyncClient]:
    async with client(app, "nele") as opened:
        yield opened


@pytest.fixture
async def as_kim(app: FastAPI, kim: Memory) -> AsyncIterator[httpx.AsyncClient]:
    async with client(app, "kim") as opened:
        yield opened


@pytest.fixture
async def as_operator(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client(app, OPERATOR) as opened:
        yield opened


@pytest.fixture
async def as_nobody(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with client(app, None) as opened:
        yield opened


def scope(install: str = "nele", **more: str) -> dict[str, str]:
    return {"install": install, **more}
