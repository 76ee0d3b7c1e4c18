"""An answer made of what was let in: the lines in their order, within the budget, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from . import past, render
from .answer import Answer, Dropped, Item, Mode, Passage, Request, Rung
from .cited import once
from .passages import Heard
from .past import Quote
from .rank import Ranked, Ranking
from .source import Entry

_STRONG_FIRST = 3
_FACT_BESIDE_QUOTE = 0.6
"""A fact is short: a word of the question covers more of it, and its score is higher than that of a turn as near."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A past turn that is worth a line. `rerank` is what a cross-encoder gave it, if one was asked."""

    heard: Heard
    quote: Quote
    score: float
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """From where an answer was read, and in which state memory was; `vectors`: whether meaning was compared.

    `evident`: past turns are evidence for an answer, and not only shown. `misplaced`: what is asked of one speaker was
    said by another.
    """

    rung: Rung
    generations: dict[UUID, int]
    vectors: bool
    evident: bool = True
    misplaced: bool = False


def compose(
    ranking: Ranking,
    rules: Sequence[Entry],
    quoted: Sequence[Quoted],
    documents: Sequence[Item],
    request: Request,
    read: Read,
    *,
    now: datetime,
) -> Answer:
    """A prefetch gives the rules of the task first, then facts, then quotes; a search strong facts first."""
    ruled = {each.found.block.id for each in rules}
    items = [_of_rule(each, request, now) for each in rules]
    facts = [_of_block(each, request, now) for each in ranking.kept if _id(each) not in ruled]
    quotes = [_of_quote(each, now) for each in quoted]
    items += facts + quotes if request.mode is Mode.PREFETCH else _merged(facts, [*quotes, *documents])[: request.most]
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
        abstained=not any(_answers(item, read) for item in kept),
        vectors=read.vectors,
    )


def _merged(facts: Sequence[Item], quotes: Sequence[Item]) -> list[Item]:
    """What a search gives, in its order. A fact that answers the question stands before whatever was said of it."""
    first = [each for each in facts if _is_strong(each)][:_STRONG_FIRST]
    others = [each for each in (*facts, *quotes) if each not in first]
    others.sort(key=lambda item: -item.score * (1.0 if item.block is None else _FACT_BESIDE_QUOTE))
    return once([*first, *others])


def _answers(item: Item, read: Read) -> bool:
    """True for a line that may answer the question: not one that is shown for want of a better."""
    if item.document is not None:
        return True
    if item.block is None:
        return read.evident and not read.misplaced
    return _is_strong(item) or not read.misplaced


def _is_strong(item: Item) -> bool:
    words, lift = item.channels.get("words", 1.0), item.channels.get("lift", 0.0)  # a rule has neither, and stands
    return words >= 0.6 or lift >= 0.1 or (words >= 0.4 and lift >= 0.08)


def empty() -> Answer:
    """What is given where nothing is asked."""
    return Answer("", (), (), Rung.IDLE, {}, 0.0, abstained=True, vectors=False)


def of_items(items: Sequence[Item], budget_tokens: int) -> Answer:
    """An answer that was not searched for: so many of the lines as the budget holds."""
    context, taken = render.context([item.text for item in items], budget_tokens)
    kept = tuple(item for item in items if item.text in taken)
    return replace(empty(), context=context, items=kept, rung=Rung.SQL, abstained=not kept)


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
    text = render.line(block, now=now, as_of=request.moment)
    return Item(block, None, text, ranked.score, ranked.channels, ranked.why)


def _of_rule(entry: Entry, request: Request, now: datetime) -> Item:
    text = render.line(entry.found.block, now=now, as_of=request.moment)
    return Item(entry.found.block, None, text, 1.0, {"task": 1.0}, "is a standing rule for this kind of task")


def _id(ranked: Ranked) -> UUID:
    return ranked.candidate.entry.found.block.id


def _of_quote(quoted: Quoted, now: datetime) -> Item:
    heard, said = quoted.heard, quoted.quote.said
    passage = Passage(said.turn_id, said.session, said.at, quoted.quote.text)
    channels = past.channels(heard)
    if quoted.rerank is not None:
        channels["rerank"] = quoted.rerank
    return Item(None, passage, render.quotation(quoted.quote, now=now), quoted.score, channels, past.why(heard))
