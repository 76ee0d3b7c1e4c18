"""A job for each stage. This is a turn's life, failures included.

A turn arrives on a stream and `ingest` writes it to table turns, `received`. Then three stages move it on, each a job:

    received ──extract──▶ extracted ──link──▶ linked ──store──▶ stored
        │                                        │
        └─▶ skipped (nothing to keep)            └─▶ erased (it was undone meanwhile)

A job claims its turn under a fence: the claim raises the turn's fence and takes a lease, and every later write repeats
the fence, so that of two workers one wins and the other's work is rolled back. The lease is kept alive by a heartbeat.

* Something is down or busy (Transient): the turn is put back with a growing delay, or the one that was asked for, and
  no attempt is counted.
* The worker is killed: the lease runs out, and the reconciler (upkeep.py) queues the turn under its new fence. A turn
  that has killed two workers runs in a process of its own; the third time it is dead.
* No retry can help (Permanent), or our code is wrong (any other exception): dead, with the reason or the traceback.

Nothing here remembers anything: kill Redis, and the reconciler finds in Postgres what there is to do.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from nextlevel import log
from nextlevel.errors import Permanent, Transient
from nextlevel.model import TurnState
from nextlevel.store import trace, turns
from nextlevel.store.status import add_dead_letter
from nextlevel.store.turns import Claim

from .context import WorkerContext
from .outcomes import Outcome
from .stages import extract_turn, link_turn, store_turn
from .steps.extract import llm, parts

MOST_CRASHES = 3
ISOLATED_FROM = 2
LIMIT_S = 60.0
"""Longest that a job may take, waiting for a language model aside."""
ANSWERS = llm.MOST_ANSWERS * parts.MOST_PARTS
"""Answers of a language model that one job may wait for."""
_LONGEST_DELAY_S = 60.0

_log = log.get("workers")


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: the state it takes a turn in, and what it does."""

    takes: TurnState
    act: Callable[[WorkerContext, Claim], Awaitable[Outcome]]


STAGES = {
    "extract": Stage(TurnState.RECEIVED, extract_turn),
    "link": Stage(TurnState.EXTRACTED, link_turn),
    "store": Stage(TurnState.LINKED, store_turn),
}


async def run(ctx: WorkerContext, stage: str, tenant_id: UUID, turn_id: str, fence: int) -> Outcome:
    """Take one turn through one stage. Safe to run twice: the fence lets one win. Raises nothing but cancellation."""
    try:
        async with ctx.db.pipeline() as conn:
            claim = await turns.claim(
                conn, tenant_id, turn_id, STAGES[stage].takes, fence, lease_s=ctx.settings.lease_s
            )
    except Transient as error:
        _log.warning("claim_waits", stage=stage, turn_id=turn_id, error=str(error))
        return Outcome.PUT_BACK  # nothing was claimed: the reconciler will find it
    if claim is None:
        return Outcome.ANOTHER_HAS_IT
    if claim.crashes >= MOST_CRASHES:
        return await _settle(ctx, claim, _die(ctx, claim, "poison", f"it killed its worker {claim.crashes} times"))
    async with _heartbeat(ctx, claim):
        outcome = await _act(ctx, stage, claim)
    if outcome in (Outcome.SKIPPED, Outcome.DEAD) or (outcome is Outcome.ADVANCED and stage == "store"):
        ctx.ready.set()  # the next turn of the session may go
    return outcome


async def _act(ctx: WorkerContext, stage: str, claim: Claim) -> Outcome:
    try:
        return await STAGES[stage].act(ctx, claim)
    except asyncio.CancelledError:
        # The worker is being stopped: that is no crash of this turn's.
        await asyncio.shield(_settle(ctx, claim, _put_back(ctx, claim, 0, "its worker was stopped")))
        raise
    except Transient as error:
        delay = max(error.retry_after_s, min(_LONGEST_DELAY_S, 0.5 * 2 ** min(claim.fence, 10)))
        _log.warning("turn_waits", stage=stage, turn_id=claim.turn.id, delay_s=delay, error=str(error))
        return await _settle(ctx, claim, _put_back(ctx, claim, delay, str(error)))
    except Permanent as error:
        code = getattr(error, "code", type(error).__name__)
        return await _settle(ctx, claim, _die(ctx, claim, code, str(error)))
    except Exception as error:  # a bug is dead with its traceback, visibly; the worker goes on with the next turn
        _log.exception("turn_dead", stage=stage, turn_id=claim.turn.id)
        return await _settle(ctx, claim, _die(ctx, claim, type(error).__name__, traceback.format_exc()))


async def _put_back(ctx: WorkerContext, claim: Claim, delay_s: float, reason: str) -> Outcome:
    async with ctx.db.pipeline() as conn:
        await turns.put_back(conn, claim, delay_s=delay_s, reason=reason)
    return Outcome.PUT_BACK


async def _die(ctx: WorkerContext, claim: Claim, code: str, reason: str) -> Outcome:
    async with ctx.db.pipeline() as conn:
        if not await turns.advance(conn, claim, TurnState.DEAD, f"{code}: {reason.strip().splitlines()[-1]}"[:500]):
            return Outcome.LOST
        await trace.add(conn, claim.scope.tenant_id, claim.turn.id, "dead", code=code, stage=claim.state)
        await add_dead_letter(
            conn, "dead", tenant_id=claim.scope.tenant_id, turn_id=claim.turn.id, code=code, reason=reason
        )
    ctx.ready.set()
    return Outcome.DEAD


async def _settle(ctx: WorkerContext, claim: Claim, ending: Awaitable[Outcome]) -> Outcome:
    """Write a turn's ending; where even that can't be written, the lease runs out and says the same, later."""
    try:
        return await ending
    except Transient as error:
        _log.warning("ending_unwritten", turn_id=claim.turn.id, error=str(error), lease_s=ctx.settings.lease_s)
        return Outcome.PUT_BACK


@asynccontextmanager
async def _heartbeat(ctx: WorkerContext, claim: Claim) -> AsyncIterator[None]:
    """Keep a claim's lease alive while its stage runs."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(ctx.settings.lease_s / 3)
            with suppress(Transient):  # the next beat tries again; past the lease the fence tells
                async with ctx.db.pipeline() as conn:
                    await turns.heartbeat(conn, claim, lease_s=ctx.settings.lease_s)

    task = asyncio.create_task(beat())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def arq_job(stage: str, arq_context: dict[str, Any], tenant_id: str, turn_id: str, fence: int) -> str:
    """`run`, as arq calls it: plain values in, a plain value out."""
    return await run(arq_context["worker"], stage, UUID(tenant_id), turn_id, fence)
