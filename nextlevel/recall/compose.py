"""An answer made of what was let in: the lines in their order, within the budget, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from . import past, render
from .answer import Answer, Dropped, Item, Mode, Passage, Request, Rung
from .passages import Heard
from .past import Quote
from .rank import Ranked, Ranking
from .source import Entry


@dataclass(frozen=True, slots=True)
class Quoted:
    """A past turn that is worth a line."""

    heard: Heard
    quote: Quote
    score: float


@dataclass(frozen=True, slots=True)
class Read:
    """From where an answer was read, and in which state memory was; `vectors`: whether meaning was compared."""

    rung: Rung
    generations: dict[UUID, int]
    vectors: bool


def compose(
    ranking: Ranking,
    rules: Sequence[Entry],
    quoted: Sequence[Quoted],
    request: Request,
    read: Read,
    *,
    now: datetime,
) -> Answer:
    """A prefetch gives the rules of the task first, then facts, then quotes; a search gives the stronger first."""
    ruled = {each.found.block.id for each in rules}
    items = [_of_rule(each, request, now) for each in rules]
    items += [_of_block(each, request, now) for each in ranking.kept if _id(each) not in ruled]
    items += [_of_quote(each, now) for each in quoted]
    if request.mode is Mode.SEARCH:
        items = sorted(items, key=lambda item: -item.score)[: request.most]
    context, taken = render.context([item.text for item in items], request.budget_tokens)
    kept: list[Item] = []
    dropped: list[Dropped] = []
    for item in items:
        if item.text in taken:
            taken.remove(item.text)
            kept.append(item)
        else:
            dropped.append(Dropped(item.text, f"said already, or beyond {request.budget_tokens} tokens"))
    dropped += [Dropped(_of_block(each, request, now).text, each.why) for each in ranking.dropped]
    return Answer(
        context=context,
        items=tuple(kept),
        dropped=tuple(dropped),
        rung=read.rung,
        generation=read.generations,
        ms=0.0,
        abstained=not kept,
        vectors=read.vectors,
    )


def empty() -> Answer:
    """What is given where nothing is asked."""
    return Answer("", (), (), Rung.IDLE, {}, 0.0, abstained=True, vectors=False)


def with_brief(answer: Answer, lines: Sequence[str], budget_tokens: int) -> Answer:
    """The answer with an opening brief before it; what the brief says is not said again."""
    if not lines:
        return answer
    more = [item.text for item in answer.items if item.text not in lines]
    context, _ = render.context([*lines, *more], budget_tokens)
    return replace(answer, context=context, brief=tuple(lines))


def without_session(answer: Answer, session: str | None, budget_tokens: int) -> Answer:
    """The answer without quotes from the session that asks: they stand in its prompt."""
    items = tuple(item for item in answer.items if item.passage is None or item.passage.session != session)
    if len(items) == len(answer.items):
        return answer
    context, _ = render.context([item.text for item in items], budget_tokens)
    return replace(answer, context=context, items=items, abstained=not items)


def _of_block(ranked: Ranked, request: Request, now: datetime) -> Item:
    block = ranked.candidate.entry.found.block
    text = render.line(block, now=now, as_of=request.as_of)
    return Item(block, None, text, ranked.score, ranked.channels, ranked.why)


def _of_rule(entry: Entry, request: Request, now: datetime) -> Item:
    text = render.line(entry.found.block, now=now, as_of=request.as_of)
    return Item(entry.found.block, None, text, 1.0, {"task": 1.0}, "is a standing rule for this kind of task")


def _id(ranked: Ranked) -> UUID:
    return ranked.candidate.entry.found.block.id


def _of_quote(quoted: Quoted, now: datetime) -> Item:
    heard, said = quoted.heard, quoted.quote.said
    passage = Passage(said.turn_id, said.session, said.at, quoted.quote.text)
    channels = {"words": round(heard.coverage, 3), "lift": round(heard.lift or 0.0, 4), "place": round(heard.score, 3)}
    return Item(None, passage, render.quotation(quoted.quote, now=now), quoted.score, channels, past.why(heard))
