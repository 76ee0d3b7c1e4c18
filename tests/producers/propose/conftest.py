"""Facts and files as a person's memory and home would have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nextlevel.model import BlockStatus, BlockType, Category, Provenance
from nextlevel.producers.propose.facts import Fact, Source
from nextlevel.producers.propose.files import DELIMITER, MemoryFile, read

Put = Callable[..., MemoryFile]


def fact(subject: str, predicate: str, object_: str, **more: Any) -> Fact:
    """A project fact that the user stated in two turns."""
    fields: dict[str, Any] = {
        "id": f"{subject}/{predicate}/{object_}",
        "type": BlockType.ENTITY_RELATIONSHIP,
        "category": Category.PROJECT,
        "key": None,
        "value": None,
        "negated": False,
        "explicit": False,
        "confidence": 0.9,
        "provenance": Provenance.USER_STATED,
        "status": BlockStatus.ACTIVE,
        "project": None,
        "ends": False,
        "superseded_by": None,
        "sources": (told(1), told(2)),
    }
    return Fact(**{**fields, "subject": subject, "predicate": predicate, "object": object_, **more})


def taste(object_: str, predicate: str = "prefers", **more: Any) -> Fact:
    """A preference of the user."""
    return fact("user", predicate, object_, **{"type": BlockType.USER_PREFERENCE, **more})


def told(day: int, span: str = "as they said it") -> Source:
    return Source(f"k3v9wq:{day}", f"2026-05-{day:02}", span)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = (tmp_path / "hermes").resolve()
    (made / "memories").mkdir(parents=True)
    return made


@pytest.fixture
def put(home: Path) -> Put:
    """Write entries as the host does, and read the file."""

    def write(target: str, *entries: str) -> MemoryFile:
        name = {"memory": "MEMORY.md", "user": "USER.md"}[target]
        (home / "memories" / name).write_text(DELIMITER.join(entries), encoding="utf-8")
        found = read(home, target)
        assert found is not None
        return found

    return write
