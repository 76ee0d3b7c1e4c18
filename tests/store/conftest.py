from collections.abc import AsyncIterator

import pytest

from nextlevel.store.pool import Database
from tests.support import stores


@pytest.fixture
async def db(database: stores.Database) -> AsyncIterator[Database]:
    """The service's own pool on a fresh database."""
    opened = await Database.connect(database.dsn)
    yield opened
    await opened.close()
