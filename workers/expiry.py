"""Blocks that were not used for as long as their type lives expire: recall stops at that moment, upkeep writes it down.

Nothing is lost: the block keeps its words, its sources and when it held, and a version tells what it was. Told again,
the fact is a new block. Bounded: a batch a transaction, so that a turn waits for one batch at most; what a run has no
time for waits for the next minute.
"""

from __future__ import annotations

import time

from nextlevel import log
from nextlevel.cache import publish_generations
from nextlevel.model import Scope
from nextlevel.store import blocks, expiry, scopes

from .context import WorkerContext

SCOPES_AT_ONCE, BLOCKS_AT_ONCE = 100, 250
LONGEST_RUN_S = 10.0

_log = log.get("upkeep")


async def expire_outlived(ctx: WorkerContext) -> int:
    """Let what is outlived expire, a batch of each scope in turn. Returns how many blocks did."""
    until = time.monotonic() + LONGEST_RUN_S
    expired = 0
    async with ctx.db.pipeline() as conn:
        waiting = await expiry.outlived_scopes(conn, limit=SCOPES_AT_ONCE)
    while waiting and time.monotonic() < until:
        scope = waiting.pop(0)
        gone = await _expire(ctx, scope)
        expired += gone
        if gone == BLOCKS_AT_ONCE:
            waiting.append(scope)
    if expired:
        _log.info("blocks_expired", blocks=expired)
    return expired


async def _expire(ctx: WorkerContext, scope: Scope) -> int:
    async with ctx.db.memory(scope) as conn:
        # A turn that confirms one of them at this moment goes first, or makes it anew.
        await blocks.lock(conn, scope)
        gone = await expiry.expire(conn, scope, limit=BLOCKS_AT_ONCE)
        generations = await scopes.raise_generations(conn, scope, {scope.profile_scope}) if gone else {}
    await publish_generations(ctx.redis, generations)
    return len(gone)
