"""What is read of a labelled file. The labels themselves are left out: whoever predicts must not see them."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field

from nextlevel.model import BlockType, EntityType


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


Text = Annotated[str, AfterValidator(_not_empty)]


class Tool(BaseModel):
    name: Text
    args: str = ""
    result: str = ""
    ok: bool = True


class TurnLine(BaseModel):
    """One turn of a session: `n` from 1, the texts of both sides, the tool calls between."""

    n: int = Field(ge=1)
    at: AwareDatetime
    user: str
    assistant: str
    tools: list[Tool] = []


class Session(BaseModel):
    """One line of an extraction set. The sessions of a file are one user's, in order."""

    id: Text
    turns: list[TurnLine]


class Fact(BaseModel):
    """One side of a pair, in free words."""

    type: BlockType
    subject: Text
    predicate: Text
    object: Text
    at: date


class Pair(BaseModel):
    """One line of a dedup set: `a` was told before `b`."""

    id: Text
    lang: str = "en"
    a: Fact
    b: Fact


class KnownEntity(BaseModel):
    name: Text
    type: EntityType
    aliases: list[str] = []


class Mention(BaseModel):
    """One line of a link set: which of the known entities do these words of the text mean?"""

    id: Text
    known: list[KnownEntity]
    text: Text
    mention: Text
