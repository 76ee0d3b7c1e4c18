"""A home of an agent, with its tier 2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nextlevel.producers.shortterm.database import Database, path_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def tier2(home: Path) -> Iterator[Database]:
    made = Database(path_of(home), home=home.resolve(), base="k3v9wq")
    yield made
    made.close()
