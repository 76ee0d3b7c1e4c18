"""Every Redis key of the cache, in one place."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from uuid import UUID

EVENTS = "nl:events"


def generation(scope_id: UUID) -> str:
    return f"nl:gen:{scope_id}"


def context(run: str, profile_scope: UUID, generations: dict[UUID, int], question: Iterable[str]) -> str:
    """One question asked of one state of memory. `run` is Redis's own run: what an earlier run kept is out of reach."""
    state = (f"{scope}={number}" for scope, number in sorted(generations.items()))
    return f"nl:ctx:{profile_scope}:{_digest([run, *state, *question])}"


def warm(install_base: str, profile: str, principal: str, session: str) -> str:
    """What the last turn of a session warmed; the plugin makes the same key."""
    return f"nl:warm:{_digest([install_base, profile, principal, session])}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
