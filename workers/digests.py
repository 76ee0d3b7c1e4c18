"""Digests of sessions that fell idle, made by upkeep. The text of a digest is workers/steps/digest.py's."""

from __future__ import annotations

import asyncio

from nextlevel import log
from nextlevel.model import Scope
from nextlevel.store import sessions

from .context import WorkerContext
from .steps.digest import digest

IDLE_S = 30 * 60.0
"""A session without a turn for so long has ended, as far as anybody can tell; a later turn makes its digest anew."""
SESSIONS_AT_ONCE = 100
_MOST_TURNS = 300

_log = log.get("upkeep")


async def digest_sessions(ctx: WorkerContext, *, idle_s: float = IDLE_S) -> int:
    """Make the digests that are missing, at most a hundred a run. Returns how many. Two workers make each once."""
    async with ctx.db.pipeline() as conn:
        waiting = await sessions.undigested(conn, idle_s=idle_s, limit=SESSIONS_AT_ONCE)
    made = [await _digest(ctx, scope, session) for scope, session in waiting]
    if any(made):
        _log.info("sessions_digested", sessions=sum(made))
    return sum(made)


async def _digest(ctx: WorkerContext, scope: Scope, session: str) -> bool:
    async with ctx.db.memory(scope) as conn:
        if not await sessions.hold(conn, scope, session):
            return False  # another worker was first
        turns = await sessions.turns(conn, scope, session, limit=_MOST_TURNS)
        made = await asyncio.to_thread(digest, turns) if turns else None  # a millisecond a turn
        await sessions.save_digest(conn, scope, session, made)
    return True
