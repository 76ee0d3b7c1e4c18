"""A call of a language model, as every stage makes it: with a place among those of all workers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nextlevel.errors import ModelBusy
from nextlevel.queue import calls

from .context import WorkerContext

_FOR_A_PLACE_S = 5.0


@asynccontextmanager
async def place(ctx: WorkerContext, *, answers: int = 1) -> AsyncIterator[None]:
    """A place for as long as the block runs and so many answers in a row may take; waited for a few seconds.

    A server that wants to rest for longer than that is left alone by all workers.

    Raises:
        ModelBusy: there is no place so soon; or whatever of it the block raises.
        QueueUnreachable: Redis is away.
    """
    settings = ctx.settings
    try:
        async with calls.place(
            ctx.redis,
            at_once=settings.llm_at_once,
            per_minute=settings.llm_per_minute,
            hold_s=answers * settings.llm_timeout_s + _FOR_A_PLACE_S,
            patience_s=_FOR_A_PLACE_S,
        ):
            yield
    except ModelBusy as error:
        if error.retry_after_s > _FOR_A_PLACE_S:
            await calls.rest(ctx.redis, error.retry_after_s)
        raise
