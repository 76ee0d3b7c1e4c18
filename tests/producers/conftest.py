"""A data directory of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from nextlevel.settings import Settings


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Never the user's; also for processes that the test starts."""
    made = tmp_path / "data"
    monkeypatch.setenv("NEXTLEVEL_DATA_DIR", str(made))
    return made


@pytest.fixture
def ours(data_dir: Path) -> Settings:
    return Settings(data_dir=data_dir)
