"""Events, blocks and scopes with sensible defaults, so that a test names only what it is about."""

from __future__ import annotations

import hashlib
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from nextlevel.event import Event
from nextlevel.model import BlockType, Candidate, Category, EntityType, Provenance, Scope
from nextlevel.store import scopes
from nextlevel.store.pool import Database

NOON = datetime(2026, 6, 3, 12, 0, tzinfo=UTC)
_numbers = itertools.count(1)


def event(user_text: str = "We deploy on Thursdays.", *, install: str = "home", **more: Any) -> Event:
    """A turn event; its number is the next unused one unless `seq` is given."""
    seq = more.pop("seq", None) or next(_numbers)
    fields: dict[str, Any] = {
        "id": f"{install}:{seq}",
        "fp": hashlib.sha256(f"{install}{seq}{user_text}".encode()).hexdigest(),
        "kind": "turn",
        "session": "s1",
        "turn": seq,
        "at": (NOON + timedelta(minutes=seq)).isoformat(),
        "user_text": user_text,
        "assistant_text": "Noted.",
    }
    return Event(**{**fields, **more})


async def scope(db: Database, *, install: str = "home", profile: str = "default", principal: str = "local") -> Scope:
    """The scope of an installation of the local tenant."""
    async with db.pipeline() as conn:
        return await scopes.resolve(conn, install, profile=profile, principal=principal, accept_unenrolled=True)


def candidate(
    subject: str = "waldseilgarten-crm", predicate: str = "runs_on_port", object_: str = "8080", **more: Any
) -> Candidate:
    """A project fact that the user stated, sure enough to be recalled."""
    fields: dict[str, Any] = {
        "type": BlockType.PROJECT_STATE,
        "category": Category.TECH_STACK,
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "confidence": 0.9,
        "provenance": Provenance.USER_STATED,
        "span": f"{subject} {object_}",
        "rule": "test",
        "entities": ((subject, EntityType.PROJECT),),
    }
    return Candidate(**{**fields, **more})
