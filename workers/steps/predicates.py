"""The canonical predicates and what follows from each: how many values at a time, which type and shelf of block."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from nextlevel.model import BlockType, Category

_ONE_FORM = {
    "are": "is", "was": "is", "were": "is", "sind": "ist", "war": "ist", "waren": "ist", "werden": "wird",
    "wurde": "wird", "wurden": "wird", "var": "är", "są": "jest", "był": "jest", "była": "jest", "było": "jest",
}  # fmt: skip

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
    family: str | None = None


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


def canonical(phrase: str, language: str | None = None) -> str | None:
    """The predicate that a free phrase stands for, or None.

    A phrase that several languages share is read as one of `language`.

    >>> canonical("läuft auf", "de"), canonical("Listens  on"), canonical("juggles")
    ('on_host', 'runs_on_port', None)
    """
    if phrase in names():
        return phrase
    wanted, spoken = _bare(phrase), _aliases()
    for each in (language, *spoken):
        if each is not None and (name := spoken.get(each, {}).get(wanted)):
            return name
    return None


def _bare(phrase: str) -> str:
    """A phrase case-folded, its "are" and "was" as "is"."""
    return " ".join(_ONE_FORM.get(word, word) for word in phrase.casefold().split())


@cache
def _aliases() -> dict[str, dict[str, str]]:
    """By language, every phrase that is clear where a predicate stands alone."""
    spoken = {language: {_bare(phrase): name for phrase, name in said.items()} for language, said in _all()[1].items()}
    for name, row in _table().items():
        for language, said in row.get("aliases", {}).items():
            spoken[language].update({_bare(phrase): name for phrase in said})
    return spoken


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(Path(__file__).with_name("predicates.toml").read_text(encoding="utf-8"))


@cache
def _all() -> tuple[dict[str, Predicate], dict[str, dict[str, str]]]:
    known: dict[str, Predicate] = {}
    said: dict[str, dict[str, str]] = {}
    for name, row in _table().items():
        known[name] = Predicate(
            name,
            cardinality=row["cardinality"],
            type=BlockType(row["type"]) if "type" in row else None,
            category=Category(row["category"]) if "category" in row else None,
            key=row.get("key"),
            inverse=row.get("inverse"),
            family=row.get("family"),
        )
        for language, spoken in row.items():
            if isinstance(spoken, list):
                said.setdefault(language, {}).update({phrase.casefold(): name for phrase in spoken})
    return known, said
