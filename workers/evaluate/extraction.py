"""What is remembered of labelled sessions: each turn takes the whole way, and then memory is written out.

On stores that hold nothing else. No queue is waited for: the stages are called in a row, turn by turn, so that the
same file gives the same memory, and a fact of one session is known to the next.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from nextlevel.errors import Transient
from nextlevel.event import Event, fingerprint
from nextlevel.model import Scope, ToolCall
from nextlevel.queue import streams
from nextlevel.safety.markers import strip
from nextlevel.safety.redact import redact
from nextlevel.settings import Settings
from nextlevel.store import export, scopes, status, turns

from .. import jobs
from ..context import WorkerContext
from ..ingest import BATCH, Ingest
from ..worker import opened
from .formats import Session, TurnLine

INSTALL = "eval"
PATIENCE_S = 600.0
"""How long nothing may move before we give up: a model server asks for minutes, not more."""
_LOOK_EVERY_S = 0.2


class Stuck(Transient):
    """Turns wait for something that is down, and nothing moved for ten minutes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a turn stands in the file."""

    session: str
    n: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Predicted:
    """The rows for the scorer, and for each turn that came to nothing through our own fault, the reason."""

    rows: list[dict[str, Any]]
    dead: list[str]


async def predict(settings: Settings, sessions: Sequence[Session], done: Callable[[], None]) -> Predicted:
    """Tell all sessions, in order; `done` is called after each turn.

    Raises:
        Stuck: something that the stages need stays away.
    """
    # Vectors rank what is recalled; nothing that is scored here asks them, and they cost most of the time.
    async with opened(settings, embeds=False) as (ctx, _):
        await streams.ensure_group(ctx.redis)
        places: dict[str, Place] = {}
        for session in sessions:
            for event, place in _events(session, first=len(places) + 1):
                places[event.id] = place
                await _take_through(ctx, event)
                done()
        async with ctx.db.pipeline() as conn:
            scope = await scopes.resolve(
                conn, INSTALL, profile="default", principal=scopes.LOCAL, accept_unenrolled=True
            )
            letters = (await status.snapshot(conn))["latest_dead_letters"]
        return Predicted(await _memory(ctx, scope, places), [f"{each['turn_id']}: {each['code']}" for each in letters])


def _events(session: Session, *, first: int) -> Iterator[tuple[Event, Place]]:
    """A session's turns as the plugin would send them: secrets and our own markers out."""
    told: Counter[tuple[str, str]] = Counter()
    for seq, line in enumerate(session.turns, first):
        user, assistant = _clean(line.user), _clean(line.assistant)
        yield (
            Event(
                id=f"{INSTALL}:{seq}",
                fp=fingerprint("default\nlocal", session.id, user, assistant, told[user, assistant]),
                kind="turn",
                session=session.id,
                turn=line.n,
                at=line.at.isoformat(),
                user_text=user,
                assistant_text=assistant,
                tools=tuple(_calls(line)),
                lane="batch",
            ),
            Place(session.id, line.n, line.at),
        )
        told[user, assistant] += 1


def _calls(line: TurnLine) -> Iterator[ToolCall]:
    for call in line.tools:
        yield ToolCall(call.name, redact(call.args).text, redact(call.result).text, call.ok)


def _clean(text: str) -> str:
    return redact(strip(text)).text


async def _take_through(ctx: WorkerContext, event: Event) -> None:
    await streams.publish(ctx.redis, event)
    await Ingest(ctx, INSTALL).take_in(await streams.read(ctx.redis, INSTALL, count=BATCH, block_ms=1))
    moved_at = time.monotonic()
    while True:
        if await _step(ctx):
            moved_at = time.monotonic()
            continue
        async with ctx.db.pipeline() as conn:
            waiting = (await status.snapshot(conn))["stages"]
        if not waiting:
            return
        if time.monotonic() - moved_at > PATIENCE_S:
            raise Stuck(
                f"turn {event.id} waits to leave {', '.join(waiting)}, and nothing moved for {PATIENCE_S:.0f} s"
            )
        await asyncio.sleep(_LOOK_EVERY_S)


async def _step(ctx: WorkerContext) -> bool:
    """Run what can run, each once. False: nothing could."""
    moved = False
    for name, stage in jobs.STAGES.items():
        async with ctx.db.pipeline() as conn:
            ready = await turns.ready(conn, stage.takes, limit=BATCH, gap_wait_s=0)
        for turn in ready:
            await jobs.run(ctx, name, turn.tenant_id, turn.id, turn.fence)
            moved = True
    return moved


async def _memory(ctx: WorkerContext, scope: Scope, places: dict[str, Place]) -> list[dict[str, Any]]:
    async with ctx.db.memory(scope) as conn:
        return [row for told in await export.told(conn, scope) for row in _rows(told, places)]


def _rows(told: export.Told, places: dict[str, Place]) -> Iterator[dict[str, Any]]:
    """A block as the scorer reads it: once for each session in which it was told, at its first turn there."""
    seen: set[str] = set()
    block = told.block
    for place in (places[turn] for turn in told.turns):
        if place.session in seen:
            continue
        seen.add(place.session)
        yield {
            "session": place.session,
            "turn": place.n,
            "type": block.type,
            "category": block.category,
            "subject": block.subject,
            "predicate": block.predicate.replace("_", " "),
            "object": block.object,
            "key": block.key,
            "value": block.value,
            "context": block.context,
            "confidence": round(block.confidence, 3),
            "status": block.status,
            "valid_from": _day(block.valid_from, place.at.tzinfo),
            "valid_to": _day(block.valid_to, place.at.tzinfo),
            "entities": list(told.names),
            "polarity": "-" if block.negated else "+",
        }


def _day(moment: datetime | None, zone: tzinfo | None) -> str | None:
    """The day of a moment where the speaker is."""
    return None if moment is None else moment.astimezone(zone).date().isoformat()
