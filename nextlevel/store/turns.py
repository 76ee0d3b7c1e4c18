"""Table turns: take events in, say what can run, claim it, move it on. workers/jobs.py tells the life of a turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import asyncpg

from nextlevel.event import Event, moment
from nextlevel.model import Scope, ToolCall, Turn, TurnState

from .pool import Connection
from .scopes import scope_of
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Ready:
    """A turn that a stage can take: what its job needs to know, and the fence the job expects."""

    tenant_id: UUID
    id: str
    fence: int
    crashes: int


@dataclass(frozen=True, slots=True)
class Claim:
    """A turn owned under one fence. Every later write names the fence, so that a lost lease can't write."""

    scope: Scope
    turn: Turn
    kind: str
    install: str
    seq: int
    state: TurnState
    fence: int
    attempts: int
    crashes: int
    body: dict[str, Any]


async def receive(conn: Connection, event: Event, scope: Scope) -> tuple[str, str]:
    """Take one event in under its owner. Returns the id it is filed under and how it went.

    `received` or `skipped` (new, or quarantined until now), `duplicate` (this very turn is there), `forked` (another
    turn had taken its number: it is filed under `<install>~<fp8>`, and the receipt orders a new install id).
    """
    state = await _insert(conn, event, scope) or await _insert(conn, event, scope, statement=SQL.turns.receive_again)
    if state is not None:
        await _note(conn, event, scope)
        return event.id, state
    known = await conn.fetchrow(SQL.turns.known, scope.tenant_id, event.id)
    if known is None:  # the conflict was a twin under another id, committed meanwhile: now it is seen
        return event.id, await _insert(conn, event, scope) or "duplicate"
    if known["fp"] == event.fp:
        return event.id, "duplicate"
    return await _fork(conn, event, scope)


async def _fork(conn: Connection, event: Event, scope: Scope) -> tuple[str, str]:
    install = f"{event.install}~{event.fp[:8]}"
    forked = replace(event, id=f"{install}:{event.seq}")
    await conn.execute(SQL.scopes.inherit, install, event.install)
    if await _insert(conn, forked, scope) is None:
        return forked.id, "duplicate"
    await _note(conn, forked, scope)
    return forked.id, "forked"


async def _insert(
    conn: Connection, event: Event, scope: Scope, *, broken: str | None = None, statement: str = SQL.turns.receive
) -> str | None:
    state, reason = "received", None
    if broken is not None:
        state, reason = "quarantined", broken[:500]
    elif event.kind == "session_end":
        state, reason = "skipped", "the end of a session"
    at = moment(event.at)
    offset = at.utcoffset() or timedelta()
    done: str | None = await conn.fetchval(
        statement,
        scope.tenant_id,
        event.id,
        event.install,
        event.seq,
        event.fp,
        event.kind,
        event.lane,
        scope.user_id,
        scope.profile_scope,
        scope.user_scope,
        scope.profile,
        event.session,
        event.turn,
        at,
        int(offset.total_seconds() // 60),
        event.user_text,
        event.assistant_text,
        [asdict(tool) for tool in event.tools],
        event.meta,
        event.body,
        state,
        reason,
    )
    return done


async def _note(conn: Connection, event: Event, scope: Scope) -> None:
    """What a new turn means beside itself: its session lives or ends, and what it takes back must not come back."""
    at, ends = moment(event.at), event.kind == "session_end"
    await conn.execute(SQL.turns.touch_session, scope.tenant_id, scope.user_id, event.session, scope.profile, at, ends)
    if event.kind == "retract":
        for ref in event.body.get("turns", []):
            await tombstone(conn, scope, "turn", str(ref), at)


async def quarantine(conn: Connection, scope: Scope, turn_id: str, reason: str) -> bool:
    """File a turn whose id could be read but whose content could not: its number is no gap, its state is visible.

    Returns False where the turn is already there.
    """
    stub = Event(
        id=turn_id, fp=f"quarantined:{turn_id}", kind="turn", session="?", turn=0, at="1970-01-01T00:00:00+00:00"
    )
    return await _insert(conn, stub, scope, broken=reason) is not None


async def tombstone(conn: Connection, scope: Scope, kind: str, ref: str, at: datetime) -> None:
    """Forbid that a turn, or a fact told before `at`, comes back."""
    await conn.execute(SQL.turns.tombstone, scope.tenant_id, scope.user_id, kind, ref, at)


async def receipt(conn: Connection, install: str, *, advance: bool = False) -> dict[str, Any] | None:
    """What the outbox `install` may take as delivered; None where nobody has heard of it."""
    if advance:
        await conn.execute(SQL.receipts.advance, install)
    row = await conn.fetchrow(SQL.receipts.receipt, install)
    if row is None:
        return None
    parts = {name: json.loads(row[name]) for name in ("gaps", "hidden", "forks")}
    return {"mark": row["mark"], "high": row["high"], **parts, "gaps": parts["gaps"][:100]}


async def seen_lately(conn: Connection) -> list[str]:
    return [row["install"] for row in await conn.fetch(SQL.receipts.seen_lately)]


async def ready(conn: Connection, state: TurnState, *, limit: int, gap_wait_s: float) -> list[Ready]:
    """The turns that the stage which takes `state` can run now, most urgent first."""
    rows = await conn.fetch(SQL.turns.ready, state, limit, gap_wait_s)
    return [Ready(row["tenant_id"], row["id"], row["fence"], row["crashes"]) for row in rows]


async def claim(
    conn: Connection, tenant_id: UUID, turn_id: str, state: TurnState, fence: int, *, lease_s: float
) -> Claim | None:
    """Own a turn for one stage, or None: another has it, or it has moved on."""
    row = await conn.fetchrow(SQL.turns.claim, tenant_id, turn_id, state, fence, lease_s)
    if row is None:
        return None
    return Claim(
        scope=scope_of(row),
        turn=turn_of(row),
        kind=row["kind"],
        install=row["install"],
        seq=row["seq"],
        state=TurnState(row["state"]),
        fence=row["fence"],
        attempts=row["attempts"],
        crashes=row["crashes"],
        body=row["body"],
    )


async def heartbeat(conn: Connection, claim: Claim, *, lease_s: float) -> None:
    """Own the turn for another lease."""
    await conn.execute(SQL.turns.heartbeat, claim.scope.tenant_id, claim.turn.id, claim.fence, lease_s)


async def advance(conn: Connection, claim: Claim, to: TurnState, reason: str | None = None) -> bool:
    """Move a claimed turn on. False: the lease was lost; roll back what was done in this transaction."""
    done = await conn.fetchval(
        SQL.turns.advance, claim.scope.tenant_id, claim.turn.id, claim.fence, claim.state, to, reason
    )
    return done is not None


async def put_back(conn: Connection, claim: Claim, *, delay_s: float, reason: str) -> None:
    """Give a claimed turn back for a later try that is not counted as an attempt."""
    await conn.execute(SQL.turns.put_back, claim.scope.tenant_id, claim.turn.id, claim.fence, delay_s, reason[:500])


async def window(conn: Connection, claim: Claim, *, limit: int) -> list[Turn]:
    """The turns of the same conversation before this one, oldest first."""
    return (await _beside(conn, SQL.turns.window, claim, limit))[::-1]


async def told_before(conn: Connection, claim: Claim, *, limit: int) -> list[Turn]:
    """The turns of the same conversation before this one of which nothing was forgotten, oldest first."""
    return (await _beside(conn, SQL.turns.told_before, claim, limit))[::-1]


async def waiting(conn: Connection, claim: Claim, *, limit: int) -> list[Turn]:
    """The turns of the same conversation that wait behind this one and were shown to no model yet, in order."""
    return await _beside(conn, SQL.turns.waiting, claim, limit)


async def _beside(conn: Connection, query: str, claim: Claim, limit: int) -> list[Turn]:
    """Turns of a claimed one's conversation, the nearest to it first."""
    scope, turn = claim.scope, claim.turn
    rows = await conn.fetch(query, scope.tenant_id, scope.user_id, turn.session, claim.seq, claim.install, limit)
    return [turn_of(row) for row in rows]


async def page(
    conn: Connection, scope: Scope, base: str, *, before: tuple[datetime, str] | None, limit: int
) -> list[tuple[Turn, str]]:
    """An installation's turns that may be shown again, with their fingerprints and without tools, newest first.

    Those before a time and an id (inside `Database.memory`).
    """
    whose = (scope.tenant_id, scope.user_id, scope.profile_scope, base)
    rows = await conn.fetch(SQL.turns.page, *whose, *(before or (None, None)), limit)
    return [(turn_of(row), row["fp"]) for row in rows]


def turn_of(row: asyncpg.Record) -> Turn:
    """A Turn from a row of table turns; when it was said is told in the speaker's own zone."""
    zone = timezone(timedelta(minutes=row["utc_offset_min"]))
    return Turn(
        id=row["id"],
        session=row["session"],
        ordinal=row["ordinal"],
        at=row["at"].astimezone(zone),
        user_text=row["user_text"],
        assistant_text=row["assistant_text"],
        tools=_tools(row["tools"]),
        meta=row["meta"],
    )


def _tools(documents: Sequence[dict[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(**document) for document in documents)
