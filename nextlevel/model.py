"""The nouns of the product: frozen, no I/O, standard library only, since the plugin carries this file into the host.

Words are those of docs/glossary.md. Times are aware datetimes; a naive one is refused at the edge.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class BlockType(StrEnum):
    USER_PREFERENCE = "user_preference"
    PROJECT_STATE = "project_state"
    LEARNED_PATTERN = "learned_pattern"
    ENTITY_RELATIONSHIP = "entity_relationship"
    PROCEDURAL = "procedural"


class Category(StrEnum):
    FORMATTING = "formatting"
    WORKFLOW = "workflow"
    TECH_STACK = "tech_stack"
    CONTACT = "contact"
    PROJECT = "project"
    SKILL = "skill"


class Provenance(StrEnum):
    """Who vouches for a block, in falling trust."""

    USER_STATED = "user_stated"
    USER_ACCEPTED = "user_accepted"
    TOOL_OBSERVED = "tool_observed"
    INFERRED = "inferred"
    ASSISTANT_STATED = "assistant_stated"
    DOCUMENT = "document"
    IMPORTED = "imported"


class BlockStatus(StrEnum):
    ACTIVE = "active"
    REVIEW = "review"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"


class Verdict(StrEnum):
    """What a person says of a block that was recalled."""

    USED = "used"
    WRONG = "wrong"


class EntityType(StrEnum):
    PERSON = "person"
    PROJECT = "project"
    FILE = "file"
    TECHNOLOGY = "technology"
    ORGANISATION = "organisation"
    PLACE = "place"
    HOST = "host"
    TOPIC = "topic"


class TurnState(StrEnum):
    """received → extracted → linked → stored; the other four are terminal too, each with its reason."""

    RECEIVED = "received"
    EXTRACTED = "extracted"
    LINKED = "linked"
    STORED = "stored"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    DEAD = "dead"
    ERASED = "erased"


TERMINAL_STATES = frozenset(
    {TurnState.STORED, TurnState.SKIPPED, TurnState.QUARANTINED, TurnState.DEAD, TurnState.ERASED}
)


class ScopeKind(StrEnum):
    """Where a block lives is who may read it: one profile, all profiles of the person, or the whole tenant."""

    PROFILE = "profile"
    USER = "user"
    TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory it is. `profile_scope` and `user_scope` are the rows of table scopes that a read may see."""

    tenant_id: UUID
    user_id: UUID
    profile: str
    profile_scope: UUID
    user_scope: UUID

    @property
    def readable(self) -> tuple[UUID, UUID]:
        return (self.profile_scope, self.user_scope)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call between question and answer. `result` may be cut; `cut` is how many characters went."""

    name: str
    args: str = ""
    result: str = ""
    ok: bool = True
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Turn:
    """One user message with the assistant's answer, and the tool calls between.

    `session` and `ordinal` place it in its conversation (ordinal from 1); `at` keeps the speaker's own offset.
    """

    id: str
    session: str
    ordinal: int
    at: datetime
    user_text: str
    assistant_text: str
    tools: tuple[ToolCall, ...] = ()
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A block as a step proposes it, before linking and dedup.

    `subject`, `object` and `entities` are names in the speaker's words; `predicate` is canonical (predicates.toml).
    `key` and `value` are the bare slot where there is one ("port", "8080"). `span` is the sentence of the turn that it
    stands on, verbatim: a candidate whose span is not in the turn is dropped as ungrounded. `rule` names what found it.
    `corrects` is true where the speaker replaces what held before ("no, use X"; "moved to 8091"). `may_be` names the
    known entities between which the linking of its subject could not decide: a person does.
    """

    type: BlockType
    category: Category
    subject: str
    predicate: str
    object: str
    confidence: float
    provenance: Provenance
    span: str
    rule: str
    key: str | None = None
    value: str | None = None
    context: str = ""
    entities: tuple[tuple[str, EntityType], ...] = ()
    negated: bool = False
    explicit: bool = False
    corrects: bool = False
    project: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    may_be: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One typed fact as stored, with provenance, confidence, and when it held."""

    id: UUID
    scope_id: UUID
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


_WHOLE_SAYINGS = frozenset({"noted", "behaves", "does", "left", "away", "available"})
"""Predicates whose object holds the words of the verb itself: "hangs after a reboot"."""


def block_text(subject: str, predicate: str, object_: str, *, negated: bool = False) -> str:
    """The one sentence that stands for a block: what is embedded, indexed and shown.

    >>> block_text("waldseilgarten-crm", "runs_on_port", "8080")
    'waldseilgarten-crm runs on port 8080'
    >>> block_text("user", "wants", "emojis", negated=True)
    'user wants not: emojis'
    >>> block_text("the loader", "behaves", "hangs with more than 6 workers")
    'the loader hangs with more than 6 workers'
    """
    verb = "" if predicate in _WHOLE_SAYINGS else predicate.replace("_", " ")
    return " ".join(part for part in (subject, verb, "not:" if negated else "", object_) if part)
