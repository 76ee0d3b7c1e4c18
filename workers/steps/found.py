"""What extraction found in a turn, and its form in table extractions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from nextlevel.model import Candidate


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of one turn, the sayings that take something back, and the turn whose deeds it rejects."""

    candidates: tuple[Candidate, ...] = ()
    retractions: tuple[str, ...] = ()
    rejects: str | None = None

    @property
    def empty(self) -> bool:
        return not self.candidates and not self.retractions and self.rejects is None


_FOUND = TypeAdapter(Found)


def to_json(found: Found) -> dict[str, Any]:
    document: dict[str, Any] = _FOUND.dump_python(found, mode="json")
    return document


def from_json(document: dict[str, Any]) -> Found:
    return _FOUND.validate_python(document)
