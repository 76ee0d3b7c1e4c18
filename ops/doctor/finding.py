"""What a check tells."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """`broken` makes `doctor` exit with 1: memory does not work, or may be lost. `weak`: it works, but not as well."""

    OK = "ok"
    WEAK = "weak"
    BROKEN = "broken"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One link's state, the facts behind it, and what mends it."""

    link: str
    state: State
    says: str
    cure: str = ""


def ok(link: str, says: str) -> Finding:
    return Finding(link, State.OK, says)


def weak(link: str, says: str, cure: str) -> Finding:
    return Finding(link, State.WEAK, says, cure)


def broken(link: str, says: str, cure: str) -> Finding:
    return Finding(link, State.BROKEN, says, cure)


def skipped(link: str, says: str) -> Finding:
    return Finding(link, State.SKIPPED, says)
