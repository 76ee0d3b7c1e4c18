"""What a language model is asked to fill in, as types: the schema it is held to, and the check of what it gave."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, ValidationError

from nextlevel.model import BlockType, Category, EntityType

MOST_MEMORIES = 20
"""More from one turn is a list of everything, and nobody's memory."""

_MOST_ENTITIES = 12

_STRICT_KEYS = frozenset({"type", "enum", "items", "anyOf", "$ref"})
"""Defaults, titles and bounds are ours to check: strict servers refuse some of them."""


def _word(value: object) -> str | None:
    """The bare slot as text; a port often comes as a number."""
    return None if value is None else str(value).strip() or None


def _day(value: object) -> date | None:
    """A date, or none: a day that can't be read is no reason to lose what was said."""
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _number(value: object) -> int:
    return value if isinstance(value, int) else 1


def _kind(value: object) -> object:
    return value if value in set(EntityType) else EntityType.TOPIC


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]
Slot = Annotated[str | None, BeforeValidator(_word)]
Day = Annotated[date | None, BeforeValidator(_day)]


class Named(BaseModel):
    name: Name
    type: Annotated[EntityType, BeforeValidator(_kind)]


class Memory(BaseModel):
    """One fact as the model gives it; prompt.md says what each field means. `turn` is read where answers are parted."""

    turn: Annotated[int, BeforeValidator(_number)] = 1
    type: BlockType
    category: Category
    subject: Name
    predicate: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]
    object: Words
    key: Slot = None
    value: Slot = None
    negated: bool = False
    corrects: bool = False
    explicit: bool = False
    confidence: float = Field(default=0.6, ge=0, le=1)
    span: Words
    entities: list[Named] = Field(default=[], max_length=_MOST_ENTITIES)
    valid_from: Day = None
    valid_to: Day = None


class Memories(BaseModel):
    memories: list[Memory] = Field(max_length=MOST_MEMORIES)


def schema() -> dict[str, Any]:
    """The JSON schema in the form that strict servers ask for: every field required, none beside them."""
    strict: dict[str, Any] = _strict(Memories.model_json_schema())
    return strict


def checked(document: object) -> tuple[list[Memory], list[str]]:
    """The memories that are what they must be, and for each other one the reason.

    Raises:
        ValueError: there is no list of memories (a schema given back, some other object), or none of it can be used.
    """
    items = document.get("memories") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise ValueError('an object with a list "memories" is expected')
    good: list[Memory] = []
    bad: list[str] = []
    for item in items[:MOST_MEMORIES]:
        try:
            good.append(Memory.model_validate(item))
        except ValidationError as error:
            first = error.errors()[0]
            bad.append(f"{'.'.join(str(part) for part in first['loc']) or 'the memory'}: {first['msg']}")
    if bad and not good:
        raise ValueError(f"no memory can be used; the first: {bad[0]}")
    return good, bad


def _strict(part: Any) -> Any:
    if isinstance(part, list):
        return [_strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    kept = {name: _strict(value) for name, value in part.items() if name in _STRICT_KEYS}
    for names in ("properties", "$defs"):
        if names in part:
            kept[names] = {name: _strict(value) for name, value in part[names].items()}
    if "properties" in part:
        kept |= {"required": list(part["properties"]), "additionalProperties": False}
    return kept
