"""POST /v1/recall."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from nextlevel.errors import Transient
from nextlevel.event import MAX_SESSION_CHARS
from nextlevel.recall import Answer, Mode
from nextlevel.recall import Request as Question
from nextlevel.recall.answer import MOST_FOUND, Tier
from nextlevel.recall.source import PASSAGES

from .access import CallerOf, ScopeBody
from .models import BlockOut
from .services import ServicesOf

MOST_TOKENS = 2_000

router = APIRouter(tags=["recall"])


class RecallBody(BaseModel):
    """A question to memory. Only the first 1,500 characters of the query count."""

    query: str
    scope: ScopeBody
    session: str | None = Field(
        default=None, max_length=MAX_SESSION_CHARS, description="Needed to warm the next turn's context."
    )
    mode: Mode = Mode.PREFETCH
    budget_tokens: int | None = Field(default=None, ge=50, le=MOST_TOKENS, description="Most tokens of `context`.")
    k: int = Field(default=MOST_FOUND, ge=1, le=PASSAGES, description="Most items of a search; a prefetch gives few.")
    deadline_ms: int | None = Field(
        default=None,
        ge=1,
        le=5_000,
        description="By when to answer with what there is. A prefetch has a default.",
    )
    as_of: AwareDatetime | None = Field(default=None, description="Ask what held at that moment.")
    known_at: AwareDatetime | None = Field(
        default=None,
        description="Ask by what was learnt until that moment; of that moment, unless `as_of` names another.",
    )
    explain: bool = Field(default=False, description="Tell also what came close, and why it was left out.")
    brief: bool = Field(
        default=False,
        description="A session begins, resumes or was compacted: give rules, project, last sessions.",
    )
    project: str | None = Field(default=None, max_length=200, description="The project in focus, by its folder's name.")
    warm: bool = Field(default=False, description="Take your time, and keep the context for the session's plugin.")


class PassageOut(BaseModel):
    """A past turn, and what is quoted of it."""

    turn: str
    session: str
    at: datetime
    text: str


class DocumentOut(BaseModel):
    """A section of a document, and what is quoted of it. With `orders` it reads like orders to a model: no quote."""

    id: UUID = Field(description="The document's: what to forget it by.")
    folder: str
    path: str
    title: str
    heading: str
    project: str | None
    changed_at: datetime
    text: str
    orders: str | None


class ItemOut(BaseModel):
    """A block (tier long-term), a past turn (archive), or a document (library)."""

    tier: Tier
    block: BlockOut | None
    passage: PassageOut | None
    document: DocumentOut | None
    text: str
    score: float = Field(ge=0, le=1)
    channels: dict[str, float]
    why: str


class BecameOut(BaseModel):
    """A fact as it was told then, and what holds now: the same line while it holds, null where nothing does."""

    model_config = ConfigDict(from_attributes=True)

    then: str
    now: str | None


class DiscussedSessionOut(BaseModel):
    """A past session in which it was spoken of. `in_time`: at the time that the question names, if it names one.

    What it came to (title to `ended_with`) is known once it was idle for half an hour.
    """

    session: str
    at: datetime
    in_time: bool
    quotes: list[PassageOut]
    title: str
    topics: list[str]
    decisions: list[str]
    open_ends: list[str]
    ended_with: list[str]
    changes: list[BecameOut]


class DroppedOut(BaseModel):
    text: str
    why: str


class RecallOut(BaseModel):
    """`context` is empty where nothing is known; that memory can't be asked is a 503, so the two are never mixed up."""

    context: str
    items: list[ItemOut]
    dropped: list[DroppedOut]
    rung: str
    generation: dict[UUID, int]
    ms: float
    abstained: bool
    vectors: bool
    brief: list[str]
    sessions: list[DiscussedSessionOut] = Field(description="For a search that asks what was said; else empty.")


@router.post("/v1/recall", response_model=RecallOut)
async def recall(body: RecallBody, caller: CallerOf, services: ServicesOf) -> Response:
    """What matters for a query, within a budget of tokens and a deadline, with the reason for each line."""
    caller.may_act_for(body.scope.install)
    settings = services.settings
    prefetch = body.mode is Mode.PREFETCH
    deadline_ms = body.deadline_ms
    if deadline_ms is None and prefetch and not body.warm:
        deadline_ms = settings.recall_deadline_ms
    question = Question(
        query=body.query,
        install=body.scope.install,
        profile=body.scope.profile,
        principal=body.scope.principal,
        mode=body.mode,
        budget_tokens=body.budget_tokens or (settings.recall_tokens if prefetch else MOST_TOKENS),
        deadline_ms=deadline_ms,
        session=body.session,
        as_of=body.as_of,
        known_at=body.known_at,
        warm=body.warm,
        brief=body.brief,
        project=body.project,
        most=body.k,
    )
    try:
        answer = await services.recall.answer(question)
    except Transient:
        services.journal.note_failure()
        raise
    services.journal.note(question, answer)
    # As bytes: given the model, FastAPI would validate it once more.
    return Response(_out(answer, explain=body.explain).model_dump_json(), media_type="application/json")


def _out(answer: Answer, *, explain: bool) -> RecallOut:
    return RecallOut(
        context=answer.context,
        items=[
            ItemOut(
                tier=item.tier,
                block=item.block and BlockOut.of(item.block),
                passage=item.passage and PassageOut(**asdict(item.passage)),
                document=item.document and DocumentOut(**asdict(item.document)),
                text=item.text,
                score=item.score,
                channels=item.channels,
                why=item.why,
            )
            for item in answer.items
        ],
        dropped=[DroppedOut(text=each.text, why=each.why) for each in answer.dropped] if explain else [],
        rung=answer.rung,
        generation=answer.generation,
        ms=answer.ms,
        abstained=answer.abstained,
        vectors=answer.vectors,
        brief=list(answer.brief),
        sessions=[DiscussedSessionOut.model_validate(asdict(each)) for each in answer.sessions],
    )
