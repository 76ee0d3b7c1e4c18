"""A home of an agent, with its tier 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nextlevel.producers.shortterm.database import Database, path_of

OpenTier2 = Callable[..., Database]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def open_tier2() -> Iterator[OpenTier2]:
    """Open tier 2 of any home, as a process of its own would."""
    made: list[Database] = []

    def open_(home: Path, *, base: str = "k3v9wq", copied: bool = False) -> Database:
        made.append(Database(path_of(home), home=home.resolve(), base=base, copied=copied))
        return made[-1]

    yield open_
    for each in made:
        each.close()


@pytest.fixture
def tier2(home: Path, open_tier2: OpenTier2) -> Database:
    return open_tier2(home)
