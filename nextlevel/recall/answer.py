"""A question to memory and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from nextlevel.model import Block


class Mode(StrEnum):
    """Who asks. A prefetch joins a turn uninvited, so it must be right; a search was asked for, and may guess."""

    PREFETCH = "prefetch"
    SEARCH = "search"


class Rung(StrEnum):
    """Where an answer came from: nowhere (the query asks for nothing), Redis, this process's memory, Postgres."""

    IDLE = "idle"
    CACHE = "cache"
    HOT = "hot"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class Request:
    """One question. `install`, `profile` and `principal` are already proven; `session` only names the key to warm.

    `deadline_ms` None waits for everything. `as_of` asks what held at that moment.
    """

    query: str
    install: str
    profile: str
    principal: str
    mode: Mode
    budget_tokens: int
    deadline_ms: int | None
    session: str | None = None
    as_of: datetime | None = None
    warm: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One recalled block: the line that is injected, one score from 0 to 1, what it is made of, and why it is here."""

    block: Block
    text: str
    score: float
    channels: dict[str, float]
    why: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """A block that came close, and why it is not in the answer."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`context` is what a model may read, empty where nothing is known. `vectors`: whether meaning was compared."""

    context: str
    items: tuple[Item, ...]
    dropped: tuple[Dropped, ...]
    rung: Rung
    generation: dict[UUID, int]
    ms: float
    abstained: bool
    vectors: bool
