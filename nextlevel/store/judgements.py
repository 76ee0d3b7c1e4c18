"""Table judgements: what a language model said of two facts, asked once and replayed. Inside `Database.memory`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from nextlevel.model import Scope

from .pool import Connection
from .sql import SQL


async def held(
    conn: Connection, scope: Scope, pairs: Collection[tuple[bytes, bytes]], judges: Sequence[str]
) -> dict[tuple[bytes, bytes], str | None]:
    """What one of these judges said of pairs (later, earlier) by hash; None where its answer was of no use."""
    later, earlier = [one for one, _ in pairs], [other for _, other in pairs]
    rows = await conn.fetch(SQL.judgements.held, scope.tenant_id, scope.user_id, later, earlier, list(judges))
    return {(row["later"], row["earlier"]): row["verdict"] for row in rows}


async def keep(
    conn: Connection, scope: Scope, pair: tuple[bytes, bytes], judge: str, verdict: str | None, trouble: str | None
) -> None:
    """Hold what a judge said, or why that is of no use: either way it is not asked again."""
    await conn.execute(SQL.judgements.keep, scope.tenant_id, scope.user_id, *pair, judge, verdict, trouble)


async def forget(conn: Connection, scope: Scope, hashes: Collection[bytes]) -> None:
    """Let go of what was said of forgotten facts."""
    await conn.execute(SQL.judgements.forget, scope.tenant_id, scope.user_id, list(hashes))


async def cosines(
    conn: Connection, scope: Scope, block_ids: Collection[UUID], vector: Any, model: str
) -> dict[UUID, float]:
    """How near blocks lie to a unit vector, by the vectors of one model."""
    rows = await conn.fetch(SQL.judgements.cosines, scope.tenant_id, list(block_ids), vector, model)
    return {row["block_id"]: row["cosine"] for row in rows}
