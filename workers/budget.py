"""What a tenant's day still has for language models: llm_model, then the cheaper one, then the rules alone.

The sum is in Postgres, so that it holds over all workers and restarts; it begins anew with the day (UTC). It is looked
at before a call and raised after it, so that a bound can be passed by the calls in flight, and by no more.
"""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

from nextlevel.inference import LLM
from nextlevel.settings import Settings
from nextlevel.store import spending
from nextlevel.store.spending import Spent

from .context import WorkerContext

CHEAPER_FROM = 0.8
"""Share of a day's bound from which the cheaper model is asked."""


class Answered(Protocol):
    """What a model gave: its name, how often it was called, and the tokens in and out."""

    @property
    def model(self) -> str: ...
    @property
    def calls(self) -> int: ...
    @property
    def tokens_in(self) -> int: ...
    @property
    def tokens_out(self) -> int: ...


def model(ctx: WorkerContext, spent: Spent) -> tuple[LLM | None, str | None]:
    """The model to ask after so much was spent today, None for the rules alone; and why it is not llm_model."""
    return _within(ctx, ctx.llm, spent)


def judge(ctx: WorkerContext, spent: Spent) -> tuple[LLM | None, str | None]:
    """The model that compares facts after so much was spent today; and why it is not llm_judge_model."""
    return _within(ctx, ctx.judge, spent)


def _within(ctx: WorkerContext, wanted: LLM | None, spent: Spent) -> tuple[LLM | None, str | None]:
    share, said = _share(ctx.settings, spent)
    if share >= 1:
        return None, f"spent: {said}; the rules read alone until tomorrow"
    if share >= CHEAPER_FROM and ctx.cheaper_llm is not None:
        return ctx.cheaper_llm, f"nearly spent: {said}; {ctx.cheaper_llm.model} is asked"
    return wanted, None


async def spend(ctx: WorkerContext, tenant_id: UUID, answer: Answered) -> None:
    """Count an answer against the tenant's day."""
    async with ctx.db.pipeline() as conn:
        await spending.add(
            conn,
            tenant_id,
            answer.model,
            calls=answer.calls,
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            money=_money(ctx, answer),
        )


def _money(ctx: WorkerContext, answer: Answered) -> float:
    """What an answer cost, in the currency of the prices; 0 where none is told."""
    cheaper = ctx.cheaper_llm is not None and answer.model == ctx.cheaper_llm.model
    price = (ctx.settings.llm_cheaper_price if cheaper else None) or ctx.settings.llm_price
    if price is None:
        return 0.0
    price_in, price_out = map(float, price.split("/"))
    return (answer.tokens_in * price_in + answer.tokens_out * price_out) / 1_000_000


def _share(settings: Settings, spent: Spent) -> tuple[float, str]:
    """How much of the day's tighter bound is spent, and in words."""
    shares = [(0.0, "nothing is bounded")]
    if (most_tokens := settings.llm_tokens_per_day) is not None:
        shares.append((spent.tokens / most_tokens, f"{spent.tokens:,} of {most_tokens:,} tokens"))
    if (most_money := settings.llm_money_per_day) is not None:
        shares.append((spent.money / most_money, f"{spent.money:.2f} of {most_money:.2f} in money"))
    return max(shares)
