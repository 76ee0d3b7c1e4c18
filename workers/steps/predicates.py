"""The canonical predicates and what follows from each: how many values at a time, which type and shelf of block."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from nextlevel.model import BlockType, Category

Cardinality = Literal["one", "many"]


@dataclass(frozen=True, slots=True)
class Predicate:
    """One canonical predicate; predicates.toml explains the fields."""

    name: str
    cardinality: Cardinality = "many"
    type: BlockType | None = None
    category: Category | None = None
    key: str | None = None
    inverse: str | None = None


def get(name: str) -> Predicate:
    """The predicate of that name. An unknown one takes many values, so that nothing is closed by mistake."""
    return _all()[0].get(name) or Predicate(name)


def cardinality(name: str) -> Cardinality:
    """`one`: a new value of the same subject closes the old one. `many`: both stand.

    >>> cardinality("runs_on_port"), cardinality("uses")
    ('one', 'many')
    """
    return get(name).cardinality


def names() -> tuple[str, ...]:
    """All canonical predicates, in the table's order."""
    return tuple(_all()[0])


def phrases(language: str) -> dict[str, str]:
    """Which verb phrase (case-folded) of a language says which predicate."""
    return _all()[1].get(language, {})


@cache
def _all() -> tuple[dict[str, Predicate], dict[str, dict[str, str]]]:
    document: dict[str, dict[str, Any]] = tomllib.loads(
        Path(__file__).with_name("predicates.toml").read_text(encoding="utf-8")
    )
    known: dict[str, Predicate] = {}
    said: dict[str, dict[str, str]] = {}
    for name, row in document.items():
        known[name] = Predicate(
            name,
            cardinality=row["cardinality"],
            type=BlockType(row["type"]) if "type" in row else None,
            category=Category(row["category"]) if "category" in row else None,
            key=row.get("key"),
            inverse=row.get("inverse"),
        )
        for language, spoken in row.items():
            if isinstance(spoken, list):
                said.setdefault(language, {}).update({phrase.casefold(): name for phrase in spoken})
    return known, said
