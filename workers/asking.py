"""The extract stage's question to a language model: asked without lock or transaction, each answer held at once.

The rules have read the turn before. A model is asked only where they left something open, and where the tenant's day
still has the tokens and the money for it: llm_model first, then the cheaper one, then the rules alone. Turns of the
session that wait behind this one go in the same call, and find their answer held when they are claimed. A long turn is
asked of in parts, a call each; who claims it after a crash or a wait goes on with the first part that has no answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from nextlevel import log
from nextlevel.errors import ModelBusy
from nextlevel.inference import LLM
from nextlevel.model import Block, Turn
from nextlevel.store import extractions, spending, turns
from nextlevel.store.turns import Claim

from . import budget, calling
from .context import WorkerContext
from .outcomes import LeaseLost
from .steps import pipeline
from .steps.extract import conversation, llm, parts
from .steps.extract.llm import Heard
from .steps.extract.parts import Part, Shown
from .steps.pipeline import Look

PATIENT_CLAIMS = 6
"""From this claim on, a turn on which the model runs out of time again and again goes by the rules alone. A server that
can't be reached is waited for without end: that is no turn's fault."""
MOST_WAITING = 8
"""Turns behind the claimed one that are looked at for the same call."""

_log = log.get("workers")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model said of a turn's parts, nothing where none was asked; and for the trace, why it was or was not."""

    heard: Sequence[Heard] = ()
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
    told = parts.shown(claim.turn)
    names = [llm.extractor(each) for each in (ctx.llm, ctx.cheaper_llm) if each is not None]
    async with ctx.db.memory(claim.scope) as conn:
        held = await extractions.answers(conn, claim.scope, claim.turn.id, names)
    heard = [Heard(**each) for each in held]
    facts = await _ask_on(ctx, claim, told, heard, window, shown)
    facts |= {"left_open": list(left_open)}
    facts |= {"cut": told.cut} if heard and told.cut else {}
    if (count := len(told.parts)) > 1:
        facts |= {"parts": count} | ({"parts_read": len(heard)} if len(heard) < count else {})
    return Asked(heard, facts)


async def _ask_on(
    ctx: WorkerContext, claim: Claim, told: Shown, heard: list[Heard], window: Sequence[Turn], shown: Sequence[Block]
) -> dict[str, Any]:
    """Ask of the parts without an answer in `heard`, and add each, as far as the budget goes. Facts for the trace."""
    facts: dict[str, Any] = {}
    above: str | None = None
    while len(heard) < len(told.parts):
        async with ctx.db.pipeline() as conn:
            spent = await spending.today(conn, claim.scope.tenant_id)
        model, said = budget.model(ctx, spent)
        facts |= {"budget": said} if said else {}
        if model is None:
            break
        if above is None:
            above = await _above(ctx, claim, window)
        behind = await _behind(ctx, claim, told, window, shown)
        answers = await _ask(ctx, claim, model, [told.parts[len(heard)], *behind.values()], above)
        heard.append(answers[0])
        await _hold(ctx, claim, model, heard, dict(zip(behind, answers[1:], strict=False)))
        facts |= {"turns_in_call": len(answers)} if len(answers) > 1 else {}
    return facts


async def _above(ctx: WorkerContext, claim: Claim, window: Sequence[Turn]) -> str:
    """What came before the turn, as the model is told it."""
    async with ctx.db.pipeline() as conn:
        session = await turns.told_before(conn, claim, limit=conversation.MOST_SUMMED_UP)
    return await asyncio.to_thread(conversation.before, claim.turn, window, session)


async def _behind(
    ctx: WorkerContext, claim: Claim, told: Shown, window: Sequence[Turn], shown: Sequence[Block]
) -> dict[str, Part]:
    """The waiting turns, by id, that can be shown whole beside the claimed one; none beside a part of one."""
    if len(told.parts) > 1:
        return {}
    async with ctx.db.pipeline() as conn:
        waiting = await turns.waiting(conn, claim, limit=MOST_WAITING)
    found = {each.id: parts.shown(each) for each in _left_open(claim.turn, waiting, window, shown)}
    beside = conversation.that_fit([told, *found.values()]) - 1
    return {id_: each.parts[0] for id_, each in islice(found.items(), beside)}


def _left_open(turn: Turn, waiting: Sequence[Turn], window: Sequence[Turn], shown: Sequence[Block]) -> list[Turn]:
    """Those of the waiting turns in which the rules leave something open too."""
    told = [*window, turn]
    found = []
    for each in waiting:
        if pipeline.look(each, told[-pipeline.WINDOW_TURNS :], shown).left_open():
            found.append(each)
        told.append(each)
    return found


async def _ask(ctx: WorkerContext, claim: Claim, model: LLM, asked: Sequence[Part], above: str) -> list[Heard]:
    try:
        async with calling.place(ctx, answers=llm.MOST_ANSWERS):
            return await llm.ask(model, asked, above, partial(budget.spend, ctx, claim.scope.tenant_id))
    except ModelBusy as error:
        if not error.timed_out or claim.fence < PATIENT_CLAIMS:
            raise
        return [llm.gave_up(model, f"timed out: {error}")]


async def _hold(
    ctx: WorkerContext, claim: Claim, model: LLM, heard: Sequence[Heard], ahead: Mapping[str, Heard]
) -> None:
    """Hold what was heard of the turn so far, and ahead, of those that wait. A lost lease loses only the turn's own."""
    if (trouble := heard[-1].trouble) is not None:
        _log.warning("model_answer_unusable", turn_id=claim.turn.id, model=model.model, trouble=trouble)
    name = llm.extractor(model)
    async with ctx.db.memory(claim.scope) as conn:
        for turn_id, each in ahead.items():
            await extractions.keep_ahead(conn, claim.scope, turn_id, name, [each.to_json()])
    async with ctx.db.memory(claim.scope) as conn:
        if not await extractions.keep_answer(conn, claim, name, [each.to_json() for each in heard]):
            raise LeaseLost
