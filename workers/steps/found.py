"""What extraction found in a turn, and its form in table extractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from nextlevel.model import Candidate


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of one turn, and the sayings that take something back."""

    candidates: tuple[Candidate, ...] = ()
    retractions: tuple[str, ...] = ()


_FOUND = TypeAdapter(Found)


def to_json(found: Found) -> dict[str, Any]:
    document: dict[str, Any] = _FOUND.dump_python(found, mode="json")
    return document


def from_json(document: dict[str, Any]) -> Found:
    return _FOUND.validate_python(document)
