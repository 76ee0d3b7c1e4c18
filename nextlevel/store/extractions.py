"""Table extractions: what a model said of a turn and what was found in it, held until it is applied once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nextlevel.model import Scope

from .pool import Connection
from .sql import SQL
from .turns import Claim


async def keep_answer(conn: Connection, claim: Claim, extractor: str, answers: Sequence[dict[str, Any]]) -> bool:
    """Hold what a model said so far of a turn's parts, so that no crash asks it again. False: the lease was lost."""
    scope = claim.scope
    kept = await conn.fetchval(
        SQL.extractions.keep_answer, scope.tenant_id, claim.turn.id, extractor, list(answers), claim.fence
    )
    return kept is not None


async def keep_ahead(
    conn: Connection, scope: Scope, turn_id: str, extractor: str, answers: Sequence[dict[str, Any]]
) -> None:
    """Hold what a model said of a turn that nobody has claimed yet; one that has moved on is left alone."""
    await conn.execute(SQL.extractions.keep_ahead, scope.tenant_id, turn_id, extractor, list(answers))


async def answers(conn: Connection, scope: Scope, turn_id: str, extractors: Sequence[str]) -> list[dict[str, Any]]:
    """What the model of one of these extractors said of the turn's parts already; empty: none was asked yet."""
    found: list[dict[str, Any]] | None = await conn.fetchval(
        SQL.extractions.answers, scope.tenant_id, turn_id, extractors
    )
    return found or []


async def save(conn: Connection, scope: Scope, turn_id: str, extractor: str, raw: dict[str, Any]) -> None:
    await conn.execute(SQL.extractions.save, scope.tenant_id, turn_id, extractor, raw)


async def raw(conn: Connection, scope: Scope, turn_id: str) -> dict[str, Any]:
    found: dict[str, Any] = await conn.fetchval(SQL.extractions.raw, scope.tenant_id, turn_id)
    return found


async def link(conn: Connection, scope: Scope, turn_id: str, linked: dict[str, Any]) -> None:
    await conn.execute(SQL.extractions.link, scope.tenant_id, turn_id, linked)


async def linked(conn: Connection, scope: Scope, turn_id: str) -> dict[str, Any]:
    found: dict[str, Any] = await conn.fetchval(SQL.extractions.linked, scope.tenant_id, turn_id)
    return found
