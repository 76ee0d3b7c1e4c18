"""What an operator asks first: what waits and for how long, how turns ended, who delivers, what died."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from . import expiry, spending
from .pool import Connection
from .sql import SQL

LONGEST_INPUT = 64 * 1024
"""Bytes that are kept of what is broken, to be looked at."""
KEPT_WHOLE = frozenset({"unknown_version", "unknown_kind"})
"""Codes of what is not broken, but newer than this reader: its sender knows it as delivered."""


async def snapshot(conn: Connection) -> dict[str, Any]:
    """The state of the pipeline over all tenants (inside `Database.pipeline`); ages in seconds."""
    stages = await conn.fetch(SQL.status.stages)
    ended = await conn.fetch(SQL.status.ended)
    letters = await conn.fetch(SQL.status.count_dead_letters)
    latest = await conn.fetch(SQL.status.dead_letters, 20)
    return {
        "stages": {row["state"]: {k: v for k, v in row.items() if k != "state"} for row in stages},
        "ended_today": {row["state"]: row["turns"] for row in ended},
        "installations": await installations(conn),
        "dead_letters": {row["kind"]: row["letters"] for row in letters},
        "latest_dead_letters": [dict(row) for row in latest],
        "expired": await expiry.count(conn),
        "models_today": await spending.by_model(conn),
    }


async def installations(conn: Connection) -> list[dict[str, Any]]:
    """Who delivers, and how far: the hundred outboxes heard of last."""
    return [dict(row) for row in await conn.fetch(SQL.status.installations)]


async def add_dead_letter(
    conn: Connection,
    kind: str,
    *,
    code: str,
    reason: str,
    tenant_id: UUID | None = None,
    turn_id: str | None = None,
    entry_id: str | None = None,
    raw: bytes | None = None,
) -> None:
    """Keep what could not become memory, with the reason, where a person sees it. A redelivery adds no second row."""
    kept = raw if raw is None or code in KEPT_WHOLE else raw[:LONGEST_INPUT]
    await conn.execute(SQL.status.add_dead_letter, kind, tenant_id, turn_id, entry_id, code, reason[:4000], kept)
