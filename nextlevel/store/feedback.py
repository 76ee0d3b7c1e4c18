"""What a person says of a block: column `verdict`."""

from __future__ import annotations

from uuid import UUID

from nextlevel.errors import NotFound
from nextlevel.model import Scope, Verdict

from . import scopes
from .pool import Connection
from .sql import SQL


async def judge(conn: Connection, scope: Scope, block_id: UUID, verdict: Verdict | None) -> dict[UUID, int]:
    """Keep a verdict on a block, in the place of an earlier one; None takes it back. The new generations.

    Raises:
        NotFound: no such block in this scope.
    """
    changed = await conn.fetchval(SQL.feedback.judge, scope.tenant_id, scope.readable, block_id, verdict)
    if changed is None:
        raise NotFound(f"no block {block_id} in this scope")
    return await scopes.raise_generations(conn, scope, [changed])
