"""GET /v1/dead, POST /v1/dead/retry, POST /v1/dead/discard: what died, and what a person decides about it.

A decision is about a filter, not about a page; `up_to` is the newest letter that the person saw, so that it never
reaches what came after the look.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from nextlevel.errors import NotFound
from nextlevel.queue import streams
from nextlevel.queue.names import STREAMS
from nextlevel.store import letters
from nextlevel.store.letters import Chosen, Letter
from nextlevel.store.pool import Connection
from nextlevel.store.queues import COUNTED

from .access import CallerOf
from .services import Services, ServicesOf

_BATCH = 100

router = APIRouter(tags=["operate"])

Kind = Annotated[str | None, Field(pattern="^(dead|quarantined)$")]
Code = Annotated[str | None, Field(max_length=200)]
Text = Annotated[str | None, Field(max_length=200, description="A piece of the reason or the session, or a turn's id.")]


class LetterOut(BaseModel):
    id: int
    kind: str
    code: str
    reason: str
    turn: str | None
    at: datetime


class LettersOut(BaseModel):
    """One page, newest first. `count` stops at 10,001; `next` is the cursor of the next page, null on the last."""

    letters: list[LetterOut]
    count: int
    newest: int
    next: int | None


class DecisionBody(BaseModel):
    """Which letters: all that fit the filter, up to the newest one that was seen; or one."""

    kind: Kind = None
    code: Code = None
    text: Text = None
    up_to: int = Field(ge=1, description="`newest` of the page that the decision rests on.")
    letter: int | None = Field(default=None, ge=1, description="This one alone.")


class DecisionOut(BaseModel):
    """How many were decided on, and why others were left."""

    done: int
    left: dict[str, int]


@dataclass(frozen=True, slots=True)
class Decision:
    """What came of it: `done` letters are gone, `left` ones are still there, by reason."""

    done: int
    left: Counter[str]


@router.get("/v1/dead")
async def dead_letters(
    caller: CallerOf,
    services: ServicesOf,
    kind: Annotated[Kind, Query()] = None,
    code: Annotated[Code, Query()] = None,
    text: Annotated[Text, Query()] = None,
    after: Annotated[int | None, Query(ge=1)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> LettersOut:
    """What died or was quarantined, and why. For the operator."""
    caller.may_operate()
    chosen = Chosen(kind, code, text)
    async with services.db.pipeline() as conn:
        found = await letters.page(conn, chosen, after=after, limit=limit + 1)
        count = await letters.count(conn, chosen, most=COUNTED + 1)
    page = found[:limit]
    return LettersOut(
        letters=[
            LetterOut(
                id=each["dead_letter_id"],
                kind=each["kind"],
                code=each["code"],
                reason=each["reason"],
                turn=each["turn_id"],
                at=each["at"],
            )
            for each in page
        ],
        count=count.letters,
        newest=count.newest,
        next=page[-1]["dead_letter_id"] if len(found) > limit else None,
    )


@router.post("/v1/dead/retry")
async def retry_letters(body: DecisionBody, caller: CallerOf, services: ServicesOf) -> DecisionOut:
    """Let dead turns begin anew, and publish again what never became a turn."""
    caller.may_operate()
    return _out(await _decide_on(services, body, retry_one))


@router.post("/v1/dead/discard")
async def discard_letters(body: DecisionBody, caller: CallerOf, services: ServicesOf) -> DecisionOut:
    """Take letters away. Their turns stay dead, with their reasons."""
    caller.may_operate()
    return _out(await _decide_on(services, body, discard_one))


Deed = Callable[[Services, Connection, Letter], Awaitable[str | None]]
"""What is done with one letter; a string says why it was left."""


async def retry_one(services: Services, conn: Connection, letter: Letter) -> str | None:
    """Let a dead turn begin anew; publish again what never became a turn."""
    if letter.kind == "dead":
        if letter.tenant_id is None or letter.turn_id is None:
            return "it names no turn"
        if not await letters.requeue(conn, letter.tenant_id, letter.turn_id):
            await letters.remove(conn, letter.id)  # retried or undone meanwhile: there is nothing left to decide
        return None
    if not letter.whole or letter.input is None:
        return "not all of its input was kept: its sender has to tell it again"
    field = _field(letter.input)
    if field is None:
        return "its input can't be read, now as then"
    stream = (letter.entry_id or "").partition("/")[0]
    # Published before the letter is gone: between the two a crash makes it arrive twice, which is once.
    await streams.republish(services.redis, stream if stream in STREAMS else STREAMS[0], field, letter.input)
    await letters.remove(conn, letter.id)
    return None


async def discard_one(services: Services, conn: Connection, letter: Letter) -> str | None:
    """Take a letter away."""
    await letters.remove(conn, letter.id)
    return None


async def decide(services: Services, chosen: Chosen, deed: Deed) -> Decision:
    """Do it with every letter of a filter, a hundred a transaction."""
    done, left, after = 0, Counter[str](), None
    while True:
        async with services.db.pipeline() as conn:
            page = await letters.page(conn, chosen, after=after, limit=_BATCH)
            for each in page:
                why = await _one(services, conn, each["dead_letter_id"], deed)
                if why is None:
                    done += 1
                else:
                    left[why] += 1
        if len(page) < _BATCH:
            return Decision(done, left)
        after = page[-1]["dead_letter_id"]


async def decide_one(services: Services, letter_id: int, deed: Deed) -> Decision:
    """Do it with one letter.

    Raises:
        NotFound: somebody else has decided on it.
    """
    async with services.db.pipeline() as conn:
        if await letters.hold(conn, letter_id) is None:
            raise NotFound(f"there is no dead letter {letter_id} any more")
        why = await _one(services, conn, letter_id, deed)
    return Decision(1, Counter()) if why is None else Decision(0, Counter([why]))


async def _one(services: Services, conn: Connection, letter_id: int, deed: Deed) -> str | None:
    letter = await letters.hold(conn, letter_id)
    return None if letter is None else await deed(services, conn, letter)


async def _decide_on(services: Services, body: DecisionBody, deed: Deed) -> Decision:
    if body.letter is not None:
        return await decide_one(services, body.letter, deed)
    return await decide(services, Chosen(body.kind, body.code, body.text, body.up_to), deed)


def _out(decision: Decision) -> DecisionOut:
    return DecisionOut(done=decision.done, left=dict(decision.left))


def _field(raw: bytes) -> bytes | None:
    """The name of the field that an entry's content came in; None where it never was readable."""
    try:
        json.loads(raw)
        return b"e"
    except ValueError:
        pass
    try:
        zlib.decompressobj().decompress(base64.b64decode(raw, validate=True), 1)
        return b"z"
    except (binascii.Error, zlib.error):
        return None
