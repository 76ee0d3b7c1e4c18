"""Table model_spending: what a tenant's turns cost in language models today (UTC). Inside `Database.pipeline`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens in and out, and money in the currency of the settings' prices."""

    tokens: int = 0
    money: float = 0.0


async def today(conn: Connection, tenant_id: UUID) -> Spent:
    [row] = await conn.fetch(SQL.spending.today, tenant_id)
    return Spent(row["tokens"], row["money"])


async def add(
    conn: Connection, tenant_id: UUID, model: str, *, calls: int, tokens_in: int, tokens_out: int, money: float
) -> None:
    """Count what was asked of a model; a call that gave no answer counts too."""
    await conn.execute(SQL.spending.add, tenant_id, model, calls, tokens_in, tokens_out, money)


async def by_model(conn: Connection) -> dict[str, dict[str, Any]]:
    """What all tenants together spent today, by model."""
    rows = await conn.fetch(SQL.spending.by_model)
    return {row["model"]: {name: value for name, value in row.items() if name != "model"} for row in rows}
