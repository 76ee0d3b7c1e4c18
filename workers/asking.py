"""The extract stage's one question to a language model: asked without lock or transaction, its answer held at once."""

from __future__ import annotations

from collections.abc import Sequence

from nextlevel import log
from nextlevel.errors import ModelBusy
from nextlevel.model import Turn
from nextlevel.store import extractions
from nextlevel.store.turns import Claim

from .context import WorkerContext
from .outcomes import LeaseLost
from .steps.extract import llm
from .steps.extract.llm import Heard
from .steps.pipeline import Look

PATIENT_CLAIMS = 6
"""From this claim on, a turn on which the model runs out of time again and again goes by the rules alone. A server that
can't be reached is waited for without end: that is no turn's fault."""

_log = log.get("workers")


async def hear(ctx: WorkerContext, claim: Claim, window: Sequence[Turn], look: Look | None) -> Heard | None:
    """What the model says of a claimed turn: now, or before a crash. None: there is no model, or it isn't worth asking.

    Raises:
        ModelBusy: no answer can be had now.
        LeaseLost: another worker owns the turn by now.
    """
    if ctx.llm is None or look is None or not look.left_open():
        return None
    name = llm.extractor(ctx.llm)
    async with ctx.db.memory(claim.scope) as conn:
        held = await extractions.answer(conn, claim.scope, claim.turn.id, name)
    if held is not None:
        return Heard(**held)
    try:
        heard = await llm.ask(ctx.llm, claim.turn, window)
    except ModelBusy as error:
        if not error.timed_out or claim.fence < PATIENT_CLAIMS:
            raise
        heard = llm.gave_up(ctx.llm, f"timed out: {error}")
    if heard.trouble is not None:
        _log.warning("model_answer_unusable", turn_id=claim.turn.id, model=heard.model, trouble=heard.trouble)
    async with ctx.db.memory(claim.scope) as conn:
        if not await extractions.keep_answer(conn, claim, name, heard.to_json()):
            raise LeaseLost
    return heard
