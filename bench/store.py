"""How long does it take to store a turn, and to link it, as memory grows?

The real stages on embedded stores, without the embedder: what a vector costs has its figure in `bench-pipeline`. Scopes
of 1,000, 10,000 and 100,000 blocks take turns, round by round, so that a busy machine slows all of them. A third of the
turns tell something new, a third replace it, a third add to what many blocks speak of. LINK: a person with 10,000
entities under 30,000 names; each turn names one as it is, declined, misspelt or by a pronoun.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg

from nextlevel.event import Event, fingerprint
from nextlevel.inference import open_embedder
from nextlevel.lang.normal import normal_name
from nextlevel.model import BlockType, Candidate, Category, EntityType, Provenance, Scope
from nextlevel.queue import streams
from nextlevel.settings import Endpoints, Settings
from nextlevel.store import turns
from nextlevel.workers import jobs, stages
from nextlevel.workers.context import WorkerContext
from nextlevel.workers.ingest import Ingest
from nextlevel.workers.steps.link import Heard, link
from nextlevel.workers.worker import opened

from . import ground
from .common import TIMES, Report, Times, arguments, run, table
from .scopes import Memory, fill
from .talk import PEOPLE, PROJECTS, TOOLS, Talk

SIZES = (1_000, 10_000, 100_000)
MOST_GROWTH = 2.0
LINK_MS = 10.0
NAMES_EACH = 3
WORKER = "bench"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is told."""

    sizes: tuple[int, ...]  # blocks of each scope
    rounds: int  # turns told to each scope
    entities: int  # of the person whose mentions are linked
    mentions: int

    @classmethod
    def of(cls, quick: bool) -> Effort:
        return cls((100, 200), 6, 300, 40) if quick else cls(SIZES, 300, 10_000, 2_000)


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    effort = Effort.of(options.quick)
    pick = random.Random(options.seed + 1)  # noqa: S311 - a seed is the point
    with ground.directory() as root:
        async with ground.running(root, report, roles=()) as (settings, endpoints):
            scopes = await _fill(effort, endpoints, report, options.seed)
            async with opened(settings, embeds=False) as (ctx, _):
                await streams.ensure_group(ctx.redis)
                stored = await _store(ctx, effort, report, options.seed)
                linked = await _link(ctx, scopes[_install(effort.entities, "link")], endpoints, effort, report, pick)
    _judge(stored, linked, report)
    return {
        **{
            f"{size} blocks, {stage}": found.figures() for size, each in stored.items() for stage, found in each.items()
        },
        **{name: found.figures() for name, found in linked.items()},
    }


def _install(size: int, purpose: str = "store") -> str:
    return f"{purpose}{size}"


async def _fill(effort: Effort, endpoints: Endpoints, report: Report, seed: int) -> dict[str, Scope]:
    report.say(f"filling scopes of {', '.join(map(str, effort.sizes))} blocks")
    embedder = open_embedder(Settings())
    memories = [Memory(_install(size), size) for size in effort.sizes]
    memories.append(Memory(_install(effort.entities, "link"), 0))
    try:
        return await fill(endpoints.postgres_dsn, endpoints.postgres_admin_dsn or "", embedder, memories, seed=seed)
    finally:
        await embedder.close()


# ---- store


@dataclass(slots=True)
class Teller:
    """Tells turns to one scope and times their stages."""

    ctx: WorkerContext
    install: str
    talk: Talk
    times: dict[str, list[float]] = field(default_factory=lambda: {"link": [], "store": []})
    _seq: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def tell(self, text: str) -> None:
        seq = next(self._seq)
        session = f"s{seq // 5}"
        event = Event(
            id=f"{self.install}:{seq}",
            fp=fingerprint("default\nlocal", session, text, "Noted.", 0),
            kind="turn",
            session=session,
            turn=seq,
            at=datetime.now(UTC).isoformat(),
            user_text=text,
            assistant_text="Noted.",
        )
        await streams.publish(self.ctx.redis, event)
        await Ingest(self.ctx, WORKER).take_in(await streams.read(self.ctx.redis, WORKER, count=1, block_ms=1))
        for name, stage in jobs.STAGES.items():
            async with self.ctx.db.pipeline() as conn:
                [ready] = await turns.ready(conn, stage.takes, limit=1, gap_wait_s=0)
            began = time.perf_counter()
            await jobs.run(self.ctx, name, ready.tenant_id, ready.id, ready.fence)
            if name in self.times:
                self.times[name].append((time.perf_counter() - began) * 1_000)


async def _store(ctx: WorkerContext, effort: Effort, report: Report, seed: int) -> dict[int, dict[str, Times]]:
    tellers = {size: Teller(ctx, _install(size), Talk(seed + size)) for size in effort.sizes}
    report.say(f"telling {effort.rounds} turns to each scope")
    for number in range(-3, effort.rounds):
        for teller in tellers.values():
            await teller.tell(_told(teller.talk, number))
        if number == -1:  # the first ones pay for connections, plans and caches
            for teller in tellers.values():
                teller.times = {name: [] for name in teller.times}
    return {size: {name: Times(found) for name, found in each.times.items()} for size, each in tellers.items()}


def _told(talk: Talk, number: int) -> str:
    """Something new, what replaces it, and one more fact about a project that many blocks speak of."""
    if number % 3 == 2:
        return f"remember: {PROJECTS[number // 3 % len(PROJECTS)]} uses {TOOLS[number % len(TOOLS)]} for {talk.token()}"
    project = f"{PROJECTS[number // 3 % len(PROJECTS)]}-{number // 3}-api"
    return f"remember: {project} runs on port {20_000 + number}"


# ---- link


async def _link(
    ctx: WorkerContext, scope: Scope, endpoints: Endpoints, effort: Effort, report: Report, pick: random.Random
) -> dict[str, Times]:
    report.say(f"naming {effort.entities} entities")
    names = await _name(endpoints, scope, effort.entities, pick)
    began = time.perf_counter()
    await stages.known_names(ctx, scope)
    first = Times([(time.perf_counter() - began) * 1_000])
    report.say(f"linking {effort.mentions} mentions")
    looked: list[float] = []
    linked: list[float] = []
    for _ in range(effort.mentions):
        said, candidate = _mention(names, pick)
        began = time.perf_counter()
        aliases = await stages.known_names(ctx, scope)
        read = time.perf_counter()
        link(candidate, aliases, said)
        linked.append((time.perf_counter() - read) * 1_000)
        looked.append((read - began) * 1_000)
    return {
        "link, one mention": Times(linked),
        "link, new names asked for": Times(looked),
        "link, all names read": first,
    }


async def _name(endpoints: Endpoints, scope: Scope, count: int, pick: random.Random) -> list[str]:
    """Give a person entities, each with a name, a short one and an old one."""
    kinds = tuple(EntityType)
    names = list(dict.fromkeys(_word(pick) for _ in range(count * 2)))[:count]
    rows = [
        (UUID(int=pick.getrandbits(128), version=4), name, kinds[number % len(kinds)])
        for number, name in enumerate(names)
    ]
    admin = await asyncpg.connect(endpoints.postgres_admin_dsn)
    try:
        await admin.copy_records_to_table(
            "entities",
            columns=["tenant_id", "user_id", "entity_id", "name", "normal_name", "type"],
            records=[
                (scope.tenant_id, scope.user_id, entity, f"{name} crm", normal_name(f"{name} crm"), kind)
                for entity, name, kind in rows
            ],
        )
        await admin.copy_records_to_table(
            "entity_aliases",
            columns=["tenant_id", "user_id", "alias", "entity_id"],
            records=[
                (scope.tenant_id, scope.user_id, alias, entity)
                for entity, name, _ in rows
                for alias in (f"{name} crm", name, f"old {name} box")[:NAMES_EACH]
            ],
        )
    finally:
        await admin.close()
    return names


def _mention(names: Sequence[str], pick: random.Random) -> tuple[Heard, Candidate]:
    """A sentence about an entity, after six turns of a session."""
    name, person = pick.choice(names), pick.choice(PEOPLE)
    place = pick.randrange(1, len(name) - 2)
    subject = pick.choice((name, f"{name}s", f"{name[:place]}{name[place + 1]}{name[place]}{name[place + 2 :]}", "it"))
    before = "\n".join(f"{pick.choice(names)} was moved by {person}, and {pick.choice(names)} waits." for _ in range(6))
    span = f"{subject} runs on port 8080 beside {pick.choice(names)}"
    candidate = Candidate(
        type=BlockType.PROJECT_STATE,
        category=Category.TECH_STACK,
        subject=subject,
        predicate="runs_on_port",
        object="8080",
        confidence=0.9,
        provenance=Provenance.USER_STATED,
        span=span,
        rule="bench",
    )
    return Heard(before, span), candidate


def _word(pick: random.Random) -> str:
    """A name that nobody bears: three syllables and a fourth."""
    return "".join(pick.choice("bdfgklmnprstvz") + pick.choice("aeiou") for _ in range(4)) + pick.choice("klmnrst")


# ---- what holds


def _judge(stored: dict[int, dict[str, Times]], linked: dict[str, Times], report: Report) -> None:
    table(
        "ms a turn",
        ("what", *TIMES),
        [
            *(
                [f"{size} blocks: {stage}", *found.row()]
                for size, each in stored.items()
                for stage, found in each.items()
            ),
            *([name, *found.row()] for name, found in linked.items()),
        ],
    )
    small, large = (stored[size]["store"] for size in (min(stored), max(stored)))
    growth = f"store: p99 at {max(stored)} blocks ÷ p99 at {min(stored)}"
    report.goal(growth, large.p99 / small.p99, most=MOST_GROWTH)
    report.goal("link: p99 of one mention, ms", linked["link, one mention"].p99, most=LINK_MS)


if __name__ == "__main__":
    sys.exit(run("store", bench, arguments(__doc__)))
