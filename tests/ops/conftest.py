from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import stores


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A fresh data directory that the servers' user can reach."""
    directory = stores.make_dir()
    yield directory
    stores.remove_dir(directory)
