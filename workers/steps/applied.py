"""What one turn changed in memory, for its trace and for the caches; and a block's words, to show and to find it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from nextlevel.lang.tokens import words
from nextlevel.model import Block, block_text


@dataclass(slots=True)
class Applied:
    """Counts and notes for the trace, the blocks that changed, and the scopes whose generation must move."""

    counts: Counter[str] = field(default_factory=Counter)
    blocks: dict[UUID, Block] = field(default_factory=dict)
    scopes: set[UUID] = field(default_factory=set)
    notes: list[dict[str, str]] = field(default_factory=list)

    def note(self, what: str, text: str, why: str) -> None:
        self.counts[what] += 1
        self.notes.append({"what": what, "block": text, "why": why})

    def changed(self, block: Block, what: str, why: str, text: str | None = None) -> None:
        """Note what happened to a block, in its own words or in those of the fact that did it."""
        self.blocks[block.id] = block
        self.scopes.add(block.scope_id)
        self.note(what, text or said(block), why)


def said(block: Block) -> str:
    return block_text(block.subject, block.predicate, block.object)


def search_terms(block: Block) -> list[str]:
    """The words by which a block is found."""
    predicate = block.predicate.replace("_", " ")
    parts = (block.subject, predicate, block.object, block.context, block.key or "", block.value or "")
    return words(" ".join(parts))
