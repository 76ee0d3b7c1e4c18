"""The extract stage's one question to a language model: asked without lock or transaction, its answer held at once.

The rules have read the turn before. A model is asked only where they left something open, and where the tenant's day
still has the tokens and the money for it: llm_model first, then the cheaper one, then the rules alone. Turns of the
session that wait behind this one go in the same call, and find their answer held when they are claimed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nextlevel import log
from nextlevel.errors import ModelBusy
from nextlevel.inference import LLM
from nextlevel.model import Block, Turn
from nextlevel.queue import calls
from nextlevel.store import extractions, spending, turns
from nextlevel.store.turns import Claim

from . import budget
from .context import WorkerContext
from .outcomes import LeaseLost
from .steps import pipeline
from .steps.extract import conversation, llm
from .steps.extract.llm import Heard
from .steps.pipeline import Look

PATIENT_CLAIMS = 6
"""From this claim on, a turn on which the model runs out of time again and again goes by the rules alone. A server that
can't be reached is waited for without end: that is no turn's fault."""
MOST_WAITING = 8
"""Turns behind the claimed one that are looked at for the same call."""
_FOR_A_PLACE_S = 5.0
_ANSWERS = 2

_log = log.get("workers")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model said of a turn, None where none was asked; and for the trace, why it was asked or was not."""

    heard: Heard | None = None
    facts: dict[str, Any] = field(default_factory=dict)


async def hear(
    ctx: WorkerContext, claim: Claim, window: Sequence[Turn], shown: Sequence[Block], look: Look | None
) -> Asked:
    """What the model says of a claimed turn: now, or before a crash, or with an earlier turn.

    Raises:
        ModelBusy: no answer can be had now.
        LeaseLost: another worker owns the turn by now.
    """
    if ctx.llm is None or look is None:
        return Asked()
    left_open = look.left_open()
    if not left_open:
        return Asked(facts={"spared": "the rules left nothing open"})
    facts: dict[str, Any] = {"left_open": list(left_open)}
    names = [llm.extractor(each) for each in (ctx.llm, ctx.cheaper_llm) if each is not None]
    async with ctx.db.memory(claim.scope) as conn:
        held = await extractions.answer(conn, claim.scope, claim.turn.id, names)
    if held is not None:
        return Asked(Heard(**held), facts)
    async with ctx.db.pipeline() as conn:
        spent = await spending.today(conn, claim.scope.tenant_id)
        waiting = await turns.waiting(conn, claim, limit=MOST_WAITING)
    model, said = budget.model(ctx, spent)
    facts |= {"budget": said} if said else {}
    if model is None:
        return Asked(facts=facts)
    asked = conversation.that_fit(claim.turn, _left_open(claim.turn, waiting, window, shown))
    heard = await _ask(ctx, claim, model, asked, window)
    await _hold(ctx, claim, model, asked, heard)
    facts |= {"turns_in_call": len(heard)} if len(heard) > 1 else {}
    return Asked(heard[0], facts)


def _left_open(turn: Turn, waiting: Sequence[Turn], window: Sequence[Turn], shown: Sequence[Block]) -> list[Turn]:
    """Those of the waiting turns in which the rules leave something open too."""
    told = [*window, turn]
    found = []
    for each in waiting:
        if pipeline.look(each, told[-pipeline.WINDOW_TURNS :], shown).left_open():
            found.append(each)
        told.append(each)
    return found


async def _ask(
    ctx: WorkerContext, claim: Claim, model: LLM, asked: Sequence[Turn], window: Sequence[Turn]
) -> list[Heard]:
    settings = ctx.settings
    try:
        async with calls.place(
            ctx.redis,
            at_once=settings.llm_at_once,
            per_minute=settings.llm_per_minute,
            hold_s=_ANSWERS * settings.llm_timeout_s + _FOR_A_PLACE_S,
            patience_s=_FOR_A_PLACE_S,
        ):
            return await llm.ask(model, asked, window)
    except ModelBusy as error:
        if error.retry_after_s > _FOR_A_PLACE_S:
            await calls.rest(ctx.redis, error.retry_after_s)
        if not error.timed_out or claim.fence < PATIENT_CLAIMS:
            raise
        return [llm.gave_up(model, f"timed out: {error}")]


async def _hold(ctx: WorkerContext, claim: Claim, model: LLM, asked: Sequence[Turn], heard: Sequence[Heard]) -> None:
    """Count what it cost, then hold each turn's answer. A lease that was lost loses neither the sum nor the others'."""
    first = heard[0]
    if first.trouble is not None:
        _log.warning("model_answer_unusable", turn_id=claim.turn.id, model=first.model, trouble=first.trouble)
    async with ctx.db.pipeline() as conn:
        await spending.add(
            conn,
            claim.scope.tenant_id,
            first.model,
            calls=first.calls,
            tokens_in=first.tokens_in,
            tokens_out=first.tokens_out,
            money=budget.money(ctx, first),
        )
    name = llm.extractor(model)
    async with ctx.db.memory(claim.scope) as conn:
        for turn, each in zip(asked[1:], heard[1:], strict=False):
            await extractions.keep_ahead(conn, claim.scope, turn.id, name, each.to_json())
    async with ctx.db.memory(claim.scope) as conn:
        if not await extractions.keep_answer(conn, claim, name, first.to_json()):
            raise LeaseLost
