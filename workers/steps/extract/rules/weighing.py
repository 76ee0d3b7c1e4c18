"""What a plain statement is worth: whether it is kept, as which type, and how sure of it we are."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime

from nextlevel.lang.tokens import content_words
from nextlevel.model import BlockType, Candidate, Category, EntityType

from ... import predicates, temporal
from .pack import TRIM, Pack
from .patterns import bare_value, ends_on, with_entity
from .statement import Statement

_COMMA = re.compile(r",\s+")
_ENTRY = re.compile(
    r"(?:[\w-]+ ){1,3}\d+(?: [\w-]+){0,2}|(?:[\w-]+ ){1,3}\([\w -]+\)|[\w-]+ ?= ?[\w-]+(?: [\w-]+){0,2}"
)
"""One entry of a table that is told in a row: a name with a number, with a name in brackets, or with a sign."""
_PLAIN = frozenset({"is", "has", "behaves", "does", "noted"})
_OF_TODAY = frozenset({"is", "has", "does", "noted"})


def weight(text: str, said: Statement | None, draft: Candidate, pack: Pack) -> int:
    """How much speaks for keeping a plain statement. 0: small talk. 1: enough for a subject that is named."""
    if len(content_words(text)) < 2 or (pack.has("momentary", text) and not pack.has("standing", text)):
        return 0
    points = min(2, len(draft.entities)) + (draft.valid_from is not None or draft.valid_to is not None)
    points += pack.has("standing", text) + pack.has("quirk", text)
    if said is None:
        return points + any(c.isdigit() for c in text) + 2 * _is_table(text)
    points += 2 * (said.value is not None)
    points += said.predicate not in _PLAIN and said.kind != "user"
    points += said.kind == "person" or any(c.isdigit() for c in text)
    points += said.subject[:1].isupper() and pack.language == "en"
    points += said.predicate == "is" and pack.match("milestone", said.object) is not None
    points += _is_form(said, text, pack)
    points += said.said == ":" or said.subject.startswith("user's ")
    return points


def _is_table(text: str) -> bool:
    """Whether a text is names with a value each: "vlan 30 guests, vlan 40 servers", "laptop (plover), nas (ibis)"."""
    items = _COMMA.split(text)
    return len(items) > 1 and all(_ENTRY.fullmatch(item) for item in items)


def fewest(said: Statement) -> int:
    """How much must speak for a statement. What the user did or has, and what only says when, is mostly of today."""
    loose = said.predicate == "noted" and said.said != ":"
    return 2 if loose or (said.kind == "user" and said.predicate in _OF_TODAY) else 1


def stated(said: Statement, draft: Candidate, points: int, text: str, pack: Pack, at: datetime) -> Candidate:
    """The candidate that a statement of so much weight makes."""
    if (
        said.predicate == "is"
        and said.kind == "thing"
        and (day := temporal.begins_with_date(said.object, at, pack.language))
    ):
        said = replace(said, predicate="takes_place_on", value=day.isoformat())
    known = predicates.get(said.predicate)
    type_ = _kind(said, draft, text, pack) if said.predicate in _PLAIN else known.type or BlockType.ENTITY_RELATIONSHIP
    shelf = Category.CONTACT if said.kind == "person" else Category.TECH_STACK if draft.entities else Category.PROJECT
    person = said.kind == "person" and said.subject != "user"
    if type_ is BlockType.USER_PREFERENCE and pack.has("formatting", text):
        known, shelf = replace(known, category=None), Category.FORMATTING
    # "Prefers tables without borders" has no subject of its own: a taste is a person's, and no project's.
    tastes = type_ is BlockType.USER_PREFERENCE and said.subject == draft.subject
    return replace(
        ends_on(draft, said.predicate),
        type=type_,
        category=known.category or shelf,
        subject="user" if tastes else said.subject,
        predicate=said.predicate,
        object=said.object,
        key=known.key if said.value else None,
        value=bare_value(said.value, pack) if said.value else None,
        confidence=0.9 if said.value else round(min(0.85, 0.7 + 0.05 * points), 2),
        rule="slot" if said.value else "statement",
        entities=with_entity(draft.entities, said.subject, EntityType.PERSON) if person else draft.entities,
    )


def noted(draft: Candidate, subject: str, text: str, pack: Pack) -> Candidate:
    """The candidate of a piece that has weight and no form: its words as they stand."""
    type_ = draft.type
    if _is_table(text):
        type_ = BlockType.ENTITY_RELATIONSHIP
    elif type_ is BlockType.LEARNED_PATTERN and (draft.valid_from or draft.valid_to) and not pack.has("standing", text):
        type_ = BlockType.PROJECT_STATE
    return replace(draft, type=type_, subject=subject, object=text.strip(TRIM), confidence=0.75)


def _is_form(said: Statement, text: str, pack: Pack) -> bool:
    """Whether it says how what is written in a project is to look: "code comments are in English"."""
    return pack.match("written", said.subject) is not None and pack.has("formatting", text)


def _kind(said: Statement, draft: Candidate, text: str, pack: Pack) -> BlockType:
    """The type of a statement whose predicate leaves it open."""
    lasts = pack.has("standing", text)
    if _is_form(said, text, pack):
        return BlockType.USER_PREFERENCE
    if draft.type is BlockType.PROCEDURAL and said.kind != "person":
        return BlockType.PROCEDURAL
    if lasts and (said.kind == "user" or pack.has("formatting", text)) and said.predicate != "is":
        return BlockType.USER_PREFERENCE
    if said.said == ":" and pack.has("formatting", text) and not pack.has("quirk", text):
        return BlockType.USER_PREFERENCE
    if (draft.valid_from or draft.valid_to) and not lasts:
        return BlockType.PROJECT_STATE
    if said.predicate == "does" or said.kind == "person":
        return BlockType.ENTITY_RELATIONSHIP
    if lasts or pack.has("quirk", text) or said.predicate in ("behaves", "noted"):
        return BlockType.LEARNED_PATTERN
    return BlockType.ENTITY_RELATIONSHIP if draft.entities else BlockType.PROJECT_STATE
