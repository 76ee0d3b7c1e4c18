"""A question to memory and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from nextlevel.model import Block

MOST_FOUND = 20


class Mode(StrEnum):
    """Who asks. A prefetch joins a turn uninvited, so it must be right; a search was asked for, and may guess."""

    PREFETCH = "prefetch"
    SEARCH = "search"


class Tier(StrEnum):
    """Where an item lies: facts in long-term memory, what was said in the archive, documents in the library."""

    LONG_TERM = "long-term"
    ARCHIVE = "archive"
    LIBRARY = "library"


class Rung(StrEnum):
    """Where an answer came from: nowhere (the query asks for nothing), Redis, this process's memory, Postgres."""

    IDLE = "idle"
    CACHE = "cache"
    HOT = "hot"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class Request:
    """One question. `install`, `profile` and `principal` are already proven; `session` only names the key to warm.

    `deadline_ms` None waits for everything. `as_of` asks what held at that moment, `known_at` what memory knew by then.
    `most` bounds the items of a search; a prefetch has its own bound. `brief`: a session begins, resumes, or lost its
    prompt. `project`: the one in focus.
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
    known_at: datetime | None = None
    warm: bool = False
    brief: bool = False
    project: str | None = None
    most: int = MOST_FOUND

    @property
    def moment(self) -> datetime | None:
        """Of when an answer is true; None is now. What was known at a moment is asked of that moment by default."""
        return self.as_of or self.known_at


@dataclass(frozen=True, slots=True)
class Passage:
    """A past turn, and what is quoted of it."""

    turn: str
    session: str
    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A section of a document, and what is quoted of it; nothing, where it reads like `orders` to a model."""

    id: UUID
    folder: str
    path: str
    title: str
    heading: str
    project: str | None
    changed_at: datetime
    text: str
    orders: str | None


@dataclass(frozen=True, slots=True)
class Item:
    """A recalled block, a past turn or a document: the line that is injected, a score from 0 to 1, its parts, why it is
    here. Only a search gives documents.
    """

    block: Block | None
    passage: Passage | None
    text: str
    score: float
    channels: dict[str, float]
    why: str
    document: Document | None = None

    @property
    def tier(self) -> Tier:
        if self.document is not None:
            return Tier.LIBRARY
        return Tier.ARCHIVE if self.block is None else Tier.LONG_TERM


@dataclass(frozen=True, slots=True)
class Dropped:
    """What came close, and why it is not in the answer."""

    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """A fact as a session told it, and what holds in its place now: the same while it holds, None if nothing does."""

    then: str
    now: str | None


@dataclass(frozen=True, slots=True)
class Discussed:
    """A past session in which it was spoken of, with its best quotes. `in_time`: at the time that the question names.

    What it came to is known once it has fallen idle; `ended_with` are the last words of either side.
    """

    session: str
    at: datetime
    in_time: bool
    quotes: tuple[Passage, ...]
    title: str = ""
    topics: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    open_ends: tuple[str, ...] = ()
    ended_with: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """`context` is what a model may read, empty where nothing is known. `vectors`: whether meaning was compared.

    `abstained`: nothing was found for the query, or a search found only what others than the one it names said of it.
    The lines of an opening brief are given whatever the query. `sessions` answer a search for what was said.
    """

    context: str
    items: tuple[Item, ...]
    dropped: tuple[Dropped, ...]
    rung: Rung
    generation: dict[UUID, int]
    ms: float
    abstained: bool
    vectors: bool
    brief: tuple[str, ...] = ()
    sessions: tuple[Discussed, ...] = ()
