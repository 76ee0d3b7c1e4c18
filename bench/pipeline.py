"""How fast does a turn become memory, one by one and from a backlog?

The real tree (ingest, three stages, recall) on embedded stores. Idle: a new fact told to the plugin, until a recall
holds it. Backlog: synthetic turns put on the stream at once, until Postgres holds the last of them at its end. Floor in
the same run: the same events by bare XADD, XREADGROUP and INSERT, in batches as ingest takes them.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import asyncpg
from redis.asyncio import Redis

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.event import STREAM, Event, check, encode, fingerprint
from nextlevel.inference import open_embedder
from nextlevel.ops.up import tree
from nextlevel.settings import Endpoints, Settings

from . import ground
from .agents import agents
from .common import TIMES, Report, Times, arguments, run, table
from .talk import Said, Talk

BACKLOG, SESSIONS, IDLE = 1_000, 20, 50
EMBEDDED = 40
BATCH = 100  # entries that ingest takes at once
POLL_S = 0.01
RECALLABLE_WITHIN_S = 20.0
ENDED_WITHIN_S = 600.0
SLOWEST_RECALLABLE_MS = 1_000.0
INSTALL, FLOOR_STREAM, FLOOR_GROUP = "backlog", "nl:bench:floor", "bench"
STEPS = ("published", "ingest", "extract", "link", "store")
ROLES = tuple(role for role in tree.ROLES if role.name in {"serve", "work"})


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    turns, idle = (40, 3) if options.quick else (options.turns, IDLE)
    talk = Talk(options.seed)
    async with AsyncExitStack() as stack:
        root = stack.enter_context(ground.directory())
        settings, endpoints = await stack.enter_async_context(ground.running(root, report, ROLES))
        redis = await stack.enter_async_context(Redis.from_url(endpoints.redis_url))
        postgres = await asyncpg.connect(endpoints.postgres_admin_dsn)
        stack.push_async_callback(postgres.close)
        floor = Floor(redis, postgres)
        await floor.open()
        report.say(f"idle: {idle} facts, one by one")
        idle_figures = await _idle(idle, talk, root, settings, endpoints, postgres, floor, report)
        events = backlog(turns, talk)
        embedder_rate = await _embedder_rate(events)
        report.say(f"backlog: {turns} turns in {SESSIONS} sessions, the floor first")
        bare_s = await floor.all(events)
        report.say("backlog: through the pipeline")
        figures = await _backlog(events, redis, postgres)
    floor_rate = turns / bare_s
    rate = figures["turns_per_s"]
    table(
        "a backlog",
        ("", "a second", "÷ stream to stored"),
        [["turns by bare XADD, XREADGROUP, INSERT", f"{floor_rate:.0f}", f"{floor_rate / rate:.0f}"],
         ["vectors by the packaged embedder alone", f"{embedder_rate:.1f}", f"{embedder_rate / rate:.2f}"],
         ["turns from the stream to their end", f"{rate:.1f}", "1"],
         ["of these, turns with something to store", f"{figures['stored_per_s']:.1f}", ""]],
    )  # fmt: skip
    table("each step of a turn in the backlog, waiting included, ms", ("", *TIMES), _rows(figures["steps"]))
    print(f"\nended as {figures['states']}; skipped for {figures['reasons']}", file=sys.stderr)
    report.goal("turns lost", figures["lost"], most=0)
    report.goal("turns doubled", figures["doubled"], most=0)
    report.goal("turns that ended badly", figures["failed"], most=0)
    report.goal("idle, sync_turn to recallable: p99 in ms", idle_figures["recallable"]["p99_ms"],
                most=SLOWEST_RECALLABLE_MS)  # fmt: skip
    return {
        "idle": idle_figures,
        "backlog": {
            **figures,
            "steps": {name: found.figures() for name, found in figures["steps"].items()},
            "floor_turns_per_s": round(floor_rate, 1),
            "embedder_per_s": round(embedder_rate, 1),
            "ratio": round(floor_rate / rate, 1),
        },
    }


def backlog(turns: int, talk: Talk) -> list[Event]:
    """So many turn events of one installation, its sessions taking turns."""
    now = datetime.now(UTC).isoformat()
    return [_event(seq, talk.turn(), now) for seq in range(1, turns + 1)]


def _event(seq: int, said: Said, at: str) -> Event:
    session, place = f"session-{seq % SESSIONS}", (seq - 1) // SESSIONS + 1
    return check(
        {
            "v": 1,
            "id": f"{INSTALL}:{seq}",
            "fp": fingerprint("default\nlocal", session, said.user, said.assistant, 0),
            "kind": "turn",
            "profile": "default",
            "principal": "local",
            "session": session,
            "turn": place,
            "at": at,
            "user_text": said.user,
            "assistant_text": said.assistant,
            "tools": [{"name": name, "args": args, "result": result} for name, args, result in said.tools],
        }
    )


class Floor:
    """The least that a stream and a table cost: no state, no scope, no meaning."""

    def __init__(self, redis: Redis, postgres: asyncpg.Connection[asyncpg.Record]) -> None:
        self._redis, self._postgres = redis, postgres

    async def open(self) -> None:
        await self._postgres.execute("CREATE TABLE bench_floor (id text PRIMARY KEY, event bytea NOT NULL)")
        await self._redis.xgroup_create(FLOOR_STREAM, FLOOR_GROUP, id="0", mkstream=True)

    async def one(self, event: Event) -> float:
        """Milliseconds from the XADD to the commit of one event."""
        since = time.perf_counter()
        await self._redis.xadd(FLOOR_STREAM, _fields(event))
        await self._take()
        return 1000 * (time.perf_counter() - since)

    async def all(self, events: Sequence[Event]) -> float:
        """Seconds that all of them take."""
        since = time.perf_counter()
        await publish(self._redis, FLOOR_STREAM, events)
        left = len(events)
        while left:
            left -= await self._take()
        return time.perf_counter() - since

    async def _take(self) -> int:
        found = await self._redis.xreadgroup(FLOOR_GROUP, "bench", {FLOOR_STREAM: ">"}, count=BATCH)
        entries = found[0][1]
        rows = [(entry.decode(), next(iter(fields.values()))) for entry, fields in entries]
        await self._postgres.executemany("INSERT INTO bench_floor (id, event) VALUES ($1, $2)", rows)
        ids = [entry for entry, _ in entries]
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.xack(FLOOR_STREAM, FLOOR_GROUP, *ids)
            pipe.xdel(FLOOR_STREAM, *ids)
            await pipe.execute()
        return len(entries)


async def publish(redis: Redis, stream: str, events: Sequence[Event]) -> None:
    async with redis.pipeline(transaction=False) as pipe:
        for event in events:
            pipe.xadd(stream, _fields(event))
        await pipe.execute()


def _fields(event: Event) -> dict[Any, Any]:
    return dict(encode(event))


async def _idle(
    count: int,
    talk: Talk,
    root: Path,
    settings: Settings,
    endpoints: Endpoints,
    postgres: asyncpg.Connection[asyncpg.Record],
    floor: Floor,
    report: Report,
) -> dict[str, Any]:
    """Tell facts one by one, at moments that have nothing to do with anybody's clock."""
    client = Client(endpoints.service_url, token(secret_of(settings), OPERATOR))
    home = ground.home(
        root, "idle", settings=settings, service_url=endpoints.service_url, redis_url=endpoints.redis_url
    )
    told: list[float] = []
    recallable: list[float] = []
    bare: list[float] = []
    stamps: list[tuple[str, float]] = []
    async with agents(home, 1) as (agent,):
        for number in range(count + 1):
            fact, name = talk.port_of(number)
            since, at = time.perf_counter(), time.time()
            kept_ms = await agent.turn(fact, "Noted.")
            await _until_recalled(client, name, str(20_000 + number))
            if number:  # the first warms up
                told.append(kept_ms)
                recallable.append(1000 * (time.perf_counter() - since))
                bare.append(await floor.one(_event(number, Said(fact, "Noted."), datetime.now(UTC).isoformat())))
                stamps.append((f"idle:{number + 1}", at))
            await asyncio.sleep(random.uniform(0.1, 0.5))  # noqa: S311
    steps = await _steps(postgres, dict(stamps))
    series = {
        "sync_turn itself": Times(told),
        "sync_turn to recallable": Times(recallable),
        "floor: XADD to committed": Times(bare),
    }
    table("one turn at a time, ms", ("", *TIMES), [[name, *found.row()] for name, found in series.items()])
    table("each step of such a turn, ms", ("", *TIMES), _rows(steps))
    return {
        "sync_turn": series["sync_turn itself"].figures(),
        "recallable": series["sync_turn to recallable"].figures(),
        "floor": series["floor: XADD to committed"].figures(),
        "steps": {name: found.figures() for name, found in steps.items()},
    }


async def _until_recalled(client: Client, name: str, port: str) -> None:
    """Ask until an answer holds the fact; what the last question took is part of the time."""
    scope, deadline = ScopeName(install="idle"), time.monotonic() + RECALLABLE_WITHIN_S
    while True:
        found = await asyncio.to_thread(client.recall, f"port of {name}", scope)
        if any(port in item["text"] for item in found.items):
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} is not recalled after {RECALLABLE_WITHIN_S:.0f} s")
        await asyncio.sleep(POLL_S)


async def _backlog(
    events: Sequence[Event], redis: Redis, postgres: asyncpg.Connection[asyncpg.Record]
) -> dict[str, Any]:
    at = time.time()
    await publish(redis, STREAM, events)
    await _until_ended(postgres, len(events))
    rows = await postgres.fetch("SELECT id, fp, state, reason, finished_at FROM turns WHERE install = $1", INSTALL)
    ended = [row["finished_at"].timestamp() for row in rows if row["finished_at"] is not None]
    states = Counter(row["state"] for row in rows)
    stored_twice = await postgres.fetchval(
        "SELECT count(*) FROM (SELECT FROM trace_events WHERE turn_id LIKE $1 AND step = 'store'"
        " GROUP BY turn_id HAVING count(*) > 1) twice",
        f"{INSTALL}:%",
    )
    return {
        "turns": len(events),
        "took_s": round(max(ended, default=at) - at, 2),
        "turns_per_s": round(len(ended) / max(0.001, max(ended, default=at) - at), 1),
        "stored_per_s": round(states["stored"] / max(0.001, max(ended, default=at) - at), 1),
        "lost": len({event.id for event in events} - {row["id"] for row in rows if row["finished_at"] is not None}),
        "doubled": len(rows) - len({row["fp"] for row in rows}) + stored_twice,
        "failed": sum(states[state] for state in ("dead", "quarantined", "erased")),
        "states": dict(states),
        "reasons": dict(Counter((row["reason"] or "").partition(":")[0] for row in rows if row["state"] == "skipped")),
        "steps": await _steps(postgres, {event.id: at for event in events}),
    }


async def _embedder_rate(events: Sequence[Event]) -> float:
    """Texts a second that the packaged embedder makes vectors of, alone: nothing that stores them can be faster."""
    embedder = open_embedder(Settings())
    try:
        texts = [event.user_text for event in events[:EMBEDDED]]
        since = time.perf_counter()
        await embedder.passages(texts)
        return len(texts) / (time.perf_counter() - since)
    finally:
        await embedder.close()


async def _until_ended(postgres: asyncpg.Connection[asyncpg.Record], count: int) -> None:
    query = "SELECT count(*) FROM turns WHERE install = $1 AND finished_at IS NOT NULL"
    deadline = time.monotonic() + ENDED_WITHIN_S  # past it the turns that lack are counted as lost
    while await postgres.fetchval(query, INSTALL) < count and time.monotonic() < deadline:
        await asyncio.sleep(0.2)


async def _steps(postgres: asyncpg.Connection[asyncpg.Record], published: dict[str, float]) -> dict[str, Times]:
    """How long each step came after the one before, by the trace of these turns; the way to the stream included."""
    rows = await postgres.fetch(
        "SELECT turn_id, step, min(at) AS at FROM trace_events WHERE turn_id = ANY ($1) GROUP BY 1, 2",
        list(published),
    )
    at = {(row["turn_id"], row["step"]): row["at"].timestamp() for row in rows}
    at |= {(turn, "published"): since for turn, since in published.items()}
    return {
        f"{before} to {step}": Times(
            [
                1000 * (at[turn, step] - at[turn, before])
                for turn in published
                if {(turn, before), (turn, step)} <= at.keys()
            ]
        )
        for before, step in pairwise(STEPS)
    }


def _rows(steps: dict[str, Times]) -> list[list[str]]:
    return [[name, *found.row()] for name, found in steps.items()]


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--turns", type=int, default=BACKLOG, help="turns in the backlog")
    sys.exit(run("pipeline", bench, parser))
