"""Where candidates come from: a hot scope or Postgres. Both find the same: ranking need not know which it was."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol
from uuid import UUID

from nextlevel.inference import Vector
from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Block, block_text
from nextlevel.store.search import Found, Nearest

from .coverage import Said
from .passages import Heard, Sought

BY_WORDS = BY_VECTOR = BY_GRAPH = 60
"""Candidates a channel may bring: enough to rank, few enough to load."""

RULES = 200

PASSAGES = 100
"""Past turns that a source gives: the most that a search may ask for."""

RAREST = 6
"""Words of a query that are looked up; more cost time and bring almost nothing."""


@dataclass(frozen=True)
class Entry:
    """A block with the words it is found by, as the store indexes them."""

    found: Found

    @property
    def id(self) -> UUID:
        return self.found.block.id

    @property
    def words(self) -> frozenset[str]:
        block = self.found.block
        return frozenset(words(f"{sentence(block)} {block.context} {block.key or ''} {block.value or ''}"))

    @cached_property
    def said(self) -> Said:
        """Its words and what compounds among them are made of, to be compared with a query's."""
        return Said.of(self.words)

    @cached_property
    def shown(self) -> Said | None:
        """The same of what its line shows, where that is less: a context that adds little is not shown."""
        block = self.found.block
        if not block.context:
            return None
        text = sentence(block)
        return None if adds(block.context, text) else Said.of(words(text))

    def split(self) -> None:
        """Have its words found now, when there is time, and not when they are compared."""
        _ = self.said, self.shown


@dataclass(frozen=True, slots=True)
class Worded:
    """What words bring: the blocks that share the rarest, best first, and the idf of each word that some block has.

    `blocks` is how many blocks there are: what a word that none has would weigh.
    """

    found: list[UUID]
    weights: dict[str, float]
    blocks: int


class Source(Protocol):
    """What recall asks of memory. All of it is already walled to one scope and to what holds."""

    async def by_words(self, words: Collection[str]) -> Worded: ...

    async def by_vector(self, vector: Vector) -> Nearest: ...

    async def named(self, names: Collection[str], said: Collection[str]) -> list[tuple[str, UUID]]:
        """Which of these are some entity's name, with that entity; and merged ones by names that hold a word `said`.

        Only of what some block here speaks of: a name that a document alone knows leads nowhere, and hides no other.
        """
        ...

    async def near(self, entities: Collection[UUID]) -> list[tuple[UUID, int]]:
        """Blocks that speak of these entities (1) or of their neighbours in the graph (2)."""
        ...

    async def entries(self, ids: Collection[UUID], vector: Vector | None) -> list[tuple[Entry, float | None]]:
        """Blocks by id, each with its cosine to a vector where both have one."""
        ...

    async def rules(self) -> list[Entry]:
        """Preferences, and what was told to be remembered, at most RULES: what may hold for a kind of task."""
        ...

    async def passages(self, sought: Sought, vector: Vector | None) -> list[Heard]:
        """The past turns that fit best, best first."""
        ...


def adds(context: str, text: str) -> bool:
    """True if at least half of what a context says is not in the line already: often it is the sentence of the fact."""
    about = content_words(context)
    said = frozenset(words(text))
    return bool(about) and sum(word not in said for word in about) * 2 >= len(about)


def sentence(block: Block) -> str:
    return block_text(block.subject, block.predicate, block.object, negated=block.negated)
