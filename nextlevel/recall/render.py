"""Recalled blocks as the lines a model reads: marked as data, escaped, within a budget, none twice."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Block, block_text
from nextlevel.safety.markers import HEADER, escape

from .past import Quote
from .source import adds

# By hand: strftime would speak the language of the server's locale.
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def line(block: Block, *, now: datetime, as_of: datetime | None = None) -> str:
    """One block as one line, without its dash.

    `waldseilgarten-crm: runs on port 8080 (since 12 May)`; as of a moment also until when it held.
    """
    sentence = block_text("", block.predicate, block.object, negated=block.negated)
    text = f"{block.subject}: {sentence.strip()}"
    if adds(block.context, text):
        text += f"; {block.context}"
    when = f"since {day(block.valid_from, now)}"
    if block.valid_to is not None and (as_of is not None or block.valid_to > now):
        when += f", until {day(block.valid_to, now)}"
    return escape(f"{text} ({when})")


def quotation(quote: Quote, *, now: datetime) -> str:
    """One quoted turn as one line, without its dash: `12 May: "we deploy on Thursdays"`."""
    who = ", the assistant" if quote.by_assistant else ""
    since = " (something said here holds no longer)" if quote.said.outdated else ""
    return escape(f'{day(quote.said.at, now)}{who}: "{quote.text}"{since}')


def citation(path: str, heading: str, text: str) -> str:
    """One section of a document as one line, without its dash: `net/docker.md › MTU: "the bridge drops packets"`."""
    where = f"{path} › {heading}" if heading else path
    return escape(f'{where}: "{" ".join(text.split())}"')


def context(lines: Iterable[str], budget_tokens: int) -> tuple[str, set[str]]:
    """The header and as many lines as the budget holds, and those lines. Nothing to say is no text at all."""
    left = budget_tokens - estimate_tokens(HEADER)
    taken: dict[str, None] = {}
    for each in lines:
        cost = estimate_tokens(each) + 2  # the dash and the line's end
        if each not in taken and cost <= left:
            taken[each] = None
            left -= cost
    if not taken:
        return "", set()
    return "\n".join([HEADER, *(f"- {each}" for each in taken)]), set(taken)


def day(moment: datetime, now: datetime) -> str:
    day = f"{moment.day} {_MONTHS[moment.month - 1]}"
    return day if moment.year == now.year else f"{day} {moment.year}"
