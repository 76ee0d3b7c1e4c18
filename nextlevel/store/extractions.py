"""Table extractions: what was found in a turn, raw, held until it is applied once."""

from __future__ import annotations

from typing import Any

from nextlevel.model import Scope

from .pool import Connection
from .sql import SQL


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
