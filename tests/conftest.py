"""Fixtures for every room: `postgres` and `valkey` are shared by the run; `own_postgres`, `own_valkey` are to kill."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import hypothesis
import pytest

from tests.support import stores

# A busy machine is no finding. The gate takes Hypothesis's own profile "ci", in which each run tries the same examples.
hypothesis.settings.register_profile(
    "unhurried", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("unhurried")

# Behind nohup or & a shell has these ignored, and so would every process that a test starts and ends by one.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


@pytest.fixture(scope="session")
async def postgres() -> AsyncIterator[stores.TestPostgres]:
    """One real Postgres for the run. `await postgres.database()` gives an empty database with the schema."""
    stores.remove_leftovers()
    directory = stores.make_dir()
    server = stores.TestPostgres(directory)
    await server.start()
    await server.hurry()
    yield server
    await server.stop()
    stores.remove_dir(directory)


@pytest.fixture(scope="session")
async def shared_valkey() -> AsyncIterator[stores.TestValkey]:
    stores.remove_leftovers()
    directory = stores.make_dir()
    server = stores.TestValkey(directory)
    await server.start()
    yield server
    await server.stop()
    stores.remove_dir(directory)


@pytest.fixture
async def valkey(shared_valkey: stores.TestValkey) -> stores.TestValkey:
    """The run's one real Valkey, emptied before each test."""
    await shared_valkey.fresh()
    return shared_valkey


@pytest.fixture
async def database(postgres: stores.TestPostgres) -> AsyncIterator[stores.Database]:
    """A database with the whole schema and no row, for one test."""
    made = await postgres.database()
    yield made
    await postgres.give_back(made)


@pytest.fixture
async def spoilt_database(postgres: stores.TestPostgres) -> AsyncIterator[stores.Database]:
    """A database with the whole schema, for one test that alters it."""
    made = await postgres.new_database()
    yield made
    await postgres.drop(made)


@pytest.fixture
async def own_postgres() -> AsyncIterator[stores.TestPostgres]:
    """A Postgres of the test's own, to stop and kill. Its database is empty: `nextlevel.store.migrate` fills it."""
    directory = stores.make_dir()
    server = stores.TestPostgres(directory)
    await server.start()
    yield server
    await server.stop()
    stores.remove_dir(directory)


@pytest.fixture
async def own_valkey() -> AsyncIterator[stores.TestValkey]:
    """A Valkey of the test's own, to stop and kill."""
    directory = stores.make_dir()
    server = stores.TestValkey(directory)
    await server.start()
    yield server
    await server.stop()
    stores.remove_dir(directory)
