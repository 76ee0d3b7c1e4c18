"""What a tenant's day still has for language models: llm_model, then the cheaper one, then the rules alone.

The sum is in Postgres, so that it holds over all workers and restarts; it begins anew with the day (UTC). It is looked
at before a call and raised after it, so that a bound can be passed by the calls in flight, and by no more.
"""

from __future__ import annotations

from nextlevel.inference import LLM
from nextlevel.settings import Settings
from nextlevel.store.spending import Spent

from .context import WorkerContext
from .steps.extract.llm import Heard

CHEAPER_FROM = 0.8
"""Share of a day's bound from which the cheaper model is asked."""


def model(ctx: WorkerContext, spent: Spent) -> tuple[LLM | None, str | None]:
    """The model to ask after so much was spent today, None for the rules alone; and why it is not llm_model."""
    share, said = _share(ctx.settings, spent)
    if share >= 1:
        return None, f"spent: {said}; the rules read alone until tomorrow"
    if share >= CHEAPER_FROM and ctx.cheaper_llm is not None:
        return ctx.cheaper_llm, f"nearly spent: {said}; {ctx.cheaper_llm.model} is asked"
    return ctx.llm, None


def money(ctx: WorkerContext, heard: Heard) -> float:
    """What an answer cost, in the currency of the prices; 0 where none is told."""
    cheaper = ctx.cheaper_llm is not None and heard.model == ctx.cheaper_llm.model
    price = (ctx.settings.llm_cheaper_price if cheaper else None) or ctx.settings.llm_price
    if price is None:
        return 0.0
    price_in, price_out = map(float, price.split("/"))
    return (heard.tokens_in * price_in + heard.tokens_out * price_out) / 1_000_000


def _share(settings: Settings, spent: Spent) -> tuple[float, str]:
    """How much of the day's tighter bound is spent, and in words."""
    shares = [(0.0, "nothing is bounded")]
    if (most_tokens := settings.llm_tokens_per_day) is not None:
        shares.append((spent.tokens / most_tokens, f"{spent.tokens:,} of {most_tokens:,} tokens"))
    if (most_money := settings.llm_money_per_day) is not None:
        shares.append((spent.money / most_money, f"{spent.money:.2f} of {most_money:.2f} in money"))
    return max(shares)
