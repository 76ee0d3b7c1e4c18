"""The dashboard on real stores, asked as a browser asks: from this machine, from elsewhere, in a session."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from nextlevel.api import create_app
from nextlevel.auth import OPERATOR, token
from nextlevel.ops.dashboard import mount
from nextlevel.settings import Settings
from tests.support.memory import Memory, person
from tests.support.stores import Database as TestDatabase
from tests.support.stores import TestValkey

SECRET = "a secret for tests"
TOKEN = token(SECRET.encode(), OPERATOR)
HERE = "http://127.0.0.1:7717"
SAME_SITE = {"Sec-Fetch-Site": "same-origin", "Origin": HERE}


@asynccontextmanager
async def serving(database: TestDatabase, valkey: TestValkey, **more: Any) -> AsyncIterator[FastAPI]:
    app = create_app(Settings(postgres_dsn=database.dsn, redis_url=valkey.url, secret=SECRET, **more))
    mount(app)
    async with app.router.lifespan_context(app):
        yield app


def browser(app: FastAPI, url: str = HERE, peer: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    """A client at `peer` that opens pages under `url`."""
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(peer, 40_000))
    return httpx.AsyncClient(transport=transport, base_url=url, headers=headers, timeout=30)


def stamp(page: str) -> str:
    """What signs the forms of a page."""
    found = re.search(r'name="stamp" value="([^"]+)"', page)
    assert found is not None, "the page has no form"
    return found[1]


@pytest.fixture
async def app(database: TestDatabase, valkey: TestValkey) -> AsyncIterator[FastAPI]:
    async with serving(database, valkey) as running:
        yield running


@pytest.fixture
async def here(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who sits at the machine that serves."""
    async with browser(app) as opened:
        yield opened


@pytest.fixture
async def nele(app: FastAPI) -> Memory:
    services = app.state.services
    return await person(services.db, "nele", user="nele", cache=services.cache)
