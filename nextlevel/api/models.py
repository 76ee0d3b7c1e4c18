"""What several answers are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Self
from uuid import UUID

from pydantic import BaseModel

from nextlevel.model import Block, BlockStatus, BlockType, Category, Provenance
from nextlevel.recall import render


class BlockOut(BaseModel):
    """One block, with the line that a model would read."""

    id: UUID
    text: str
    type: BlockType
    category: Category
    subject: str
    predicate: str
    object: str
    key: str | None
    value: str | None
    context: str
    confidence: float
    provenance: Provenance
    status: BlockStatus
    negated: bool
    explicit: bool
    project: str | None
    created_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None

    @classmethod
    def of(cls, block: Block) -> Self:
        values = {name: getattr(block, name) for name in cls.model_fields if name != "text"}
        now = datetime.now(UTC)
        # What is over is told with its end, wherever it is shown.
        return cls(text=render.line(block, now=now, as_of=block.valid_to and now), **values)
