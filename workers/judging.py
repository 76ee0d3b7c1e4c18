"""The store stage's questions to a language model: of two facts on which the rules can't decide, are they one?

Asked before the store transaction, without lock or transaction: of what a turn tells, beside the nearest of what is
known. Each answer is held at once, and the same two facts are never put to that model again. The transaction only reads
what is held; a rival that came meanwhile was not asked of, and there the rules decide, as they do where the model is
away, the tenant's day is spent, or the answer is of no use.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from nextlevel import log
from nextlevel.errors import ModelBusy, QueueUnreachable
from nextlevel.inference import LLM, Embedder, Vector
from nextlevel.lang.tokens import words
from nextlevel.model import Block, Candidate, Provenance
from nextlevel.store import blocks, entities, judgements, spending
from nextlevel.store.pool import Connection
from nextlevel.store.turns import Claim

from . import budget, calling
from .context import WorkerContext
from .steps import classify, timeline
from .steps.apply import Embedded
from .steps.dedup import Pair, Verdict, grey, hash_of, judge
from .steps.dedup.judge import Judgement
from .steps.fact import Fact
from .steps.found import Found

MOST_EACH, MOST_IN_ALL = 3, 8
"""Pairs that are asked about for one fact, the nearest, and for one turn."""

_log = log.get("workers")


@dataclass(frozen=True, slots=True)
class Question:
    """Two facts that the rules leave open; `known` is the block among them."""

    later: Candidate | Block
    earlier: Candidate | Block
    known: UUID

    @property
    def pair(self) -> Pair:
        return hash_of(self.later), hash_of(self.earlier)


def judges(ctx: WorkerContext) -> list[str]:
    """Whose verdicts count, the first most; none where no model is asked to judge."""
    if ctx.judge is None:
        return []
    return [judge.name(each) for each in (ctx.judge, ctx.cheaper_llm) if each is not None]


async def consult(ctx: WorkerContext, claim: Claim, findings: Found, embedded: Embedded) -> dict[str, Any]:
    """Have the grey zone of a turn judged, as far as it was not before. Facts for the trace, if there are any."""
    embedder = ctx.embedder
    if ctx.judge is None or embedder is None or embedded.rows is None or embedder.model != embedded.model:
        return {}
    async with ctx.db.memory(claim.scope) as conn:
        await blocks.plan_each(conn)
        asked = [
            await _questions(conn, ctx, claim, Fact.of(claim, candidate), vector, embedder)
            for candidate, vector in zip(findings.candidates, embedded.rows, strict=True)
        ]
        # By pair: a turn that says one thing twice asks once.
        questions = list({each.pair: each for each in chain.from_iterable(asked)}.values())[:MOST_IN_ALL]
        held = await judgements.held(conn, claim.scope, [each.pair for each in questions], judges(ctx))
    if not questions:
        return {}
    replayed = [{"with": str(each.known), "verdict": held[each.pair]} for each in questions if each.pair in held]
    facts = await _ask(ctx, claim, [each for each in questions if each.pair not in held])
    return facts | ({"replayed": replayed} if replayed else {})


async def _questions(
    conn: Connection, ctx: WorkerContext, claim: Claim, fact: Fact, vector: Vector, embedder: Embedder
) -> list[Question]:
    """What is open about one fact: nothing where it waits in review, is the assistant's guess, or is known already."""
    told, scope = fact.candidate, claim.scope
    if embedder.measures is None or told.provenance is Provenance.ASSISTANT_STATED:
        return []
    if classify.needs_review(told, review_below=ctx.settings.review_below):
        return []
    subject = await entities.find(conn, scope, told.subject, fact.kind)
    if subject is None or await blocks.same_fact(conn, scope, fact.scope_id, fact.hash) is not None:
        return []
    rivals = await blocks.rivals(conn, scope, fact.scope_id, subject, words(fact.text), fact.since)
    place = timeline.place(told, fact.since, fact.told_at, claim.turn.session, rivals)
    if place.verdict is Verdict.SAME:
        return []
    pairs = [
        Question(told, k.block, k.block.id) if k.told[0] <= fact.told_at else Question(k.block, told, k.block.id)
        for k in rivals
    ]
    open_ = {each.known: each for each in pairs if grey.undecided(each.later, each.earlier) is not None}
    cosines = await judgements.cosines(conn, scope, open_, vector, embedder.model)
    near = [each for each in sorted(cosines, key=cosines.__getitem__, reverse=True) if _near(cosines, each, embedder)]
    return [open_[each] for each in near[:MOST_EACH]]


def _near(cosines: Mapping[UUID, float], block_id: UUID, embedder: Embedder) -> bool:
    measures = embedder.measures
    return measures is not None and measures.read(cosines[block_id]) >= grey.NEAR


async def _ask(ctx: WorkerContext, claim: Claim, questions: Sequence[Question]) -> dict[str, Any]:
    """Put questions to the model, one after the other, until it is away, or they take longer than one answer may."""
    judged: list[dict[str, Any]] = []
    until = time.monotonic() + ctx.settings.llm_timeout_s
    for question in questions:
        async with ctx.db.pipeline() as conn:
            model, said = budget.judge(ctx, await spending.today(conn, claim.scope.tenant_id))
        if model is None:
            return _facts(judged, len(questions), said)
        if time.monotonic() > until:
            return _facts(judged, len(questions), "no time was left")
        try:
            async with calling.place(ctx):
                answer = await judge.ask(model, question.later, question.earlier)
        except (ModelBusy, QueueUnreachable) as error:
            _log.warning("judge_away", turn_id=claim.turn.id, model=model.model, error=str(error))
            return _facts(judged, len(questions), str(error))
        await _hold(ctx, claim, model, question, answer)
        judged.append({"with": str(question.known), "verdict": answer.verdict, "model": answer.model})
        judged[-1] |= {"trouble": answer.trouble} if answer.trouble else {}
    return _facts(judged, len(questions), None)


def _facts(judged: Sequence[dict[str, Any]], asked: int, why: str | None) -> dict[str, Any]:
    """For the trace: what was judged; and of how many pairs the rules decided instead, and why."""
    left = asked - len(judged)
    facts: dict[str, Any] = {"judged": judged} if judged else {}
    return facts | ({"unjudged": left, "because": why} if left else {})


async def _hold(ctx: WorkerContext, claim: Claim, model: LLM, question: Question, answer: Judgement) -> None:
    if answer.trouble is not None:
        _log.warning("judgement_unusable", turn_id=claim.turn.id, model=answer.model, trouble=answer.trouble)
    await budget.spend(ctx, claim.scope.tenant_id, answer)
    async with ctx.db.memory(claim.scope) as conn:
        await judgements.keep(conn, claim.scope, question.pair, judge.name(model), answer.verdict, answer.trouble)
