"""Many workers store one person's turns at once and leave what one worker would."""

from __future__ import annotations

import asyncio
import hashlib
import random
from dataclasses import replace
from datetime import timedelta

from nextlevel.event import Event
from nextlevel.model import Scope
from nextlevel.store import blocks, turns
from nextlevel.workers import jobs
from tests.support.builders import NOON, event

WORKERS = 8
TURNS_EACH = 5
PROJECTS = ("waldseilgarten-crm", "fernhollow-shop", "pomelo-sync")


def told(principal: str, install: str) -> list[Event]:
    """What one person tells in eight sessions that overlap: ports that move, tools that are told again and again."""
    chance = random.Random(7)
    events = []
    for number in range(WORKERS * TURNS_EACH):
        project = chance.choice(PROJECTS)
        text = chance.choice(
            (
                f"{project} runs on port {chance.randrange(8000, 8006)} now.",
                f"{project} uses {chance.choice(('Redis', 'Kafka'))}.",
            )
        )
        session = f"{principal} {number % WORKERS}"
        at = (NOON + timedelta(minutes=number)).isoformat()
        events.append(
            replace(event(text, install=install, principal=principal, seq=number + 1), session=session, at=at)
        )
    return events


async def work(bench, workers: int) -> None:
    """Take every turn through every stage, each worker whatever is ready, until nothing is."""

    async def one(number: int) -> None:
        chance = random.Random(number)
        while True:
            ready = []
            for name, stage in jobs.STAGES.items():
                async with bench.ctx.db.pipeline() as conn:
                    ready += [(name, turn) for turn in await turns.ready(conn, stage.takes, limit=20, gap_wait_s=0)]
            if not ready and await settled(bench):
                return
            if ready:
                name, turn = chance.choice(ready)
                await jobs.run(bench.ctx, name, turn.tenant_id, turn.id, turn.fence)
            await asyncio.sleep(0)

    await asyncio.gather(*(one(number) for number in range(workers)))


async def settled(bench) -> bool:
    return [] == await bench.rows("SELECT FROM turns WHERE finished_at IS NULL")


async def state(bench, scope: Scope) -> str:
    """The hash of all that holds, or held, for this person."""
    rows = await bench.rows(
        "SELECT b.subject, b.predicate, coalesce(b.value, b.object), b.negated, b.status, b.valid_from, b.valid_to "
        "FROM blocks b WHERE b.user_id = $1 AND b.valid_from IS DISTINCT FROM b.valid_to ORDER BY 1, 2, 3, 6",
        scope.user_id,
    )
    assert rows
    return hashlib.sha256("\n".join(str(tuple(row)) for row in rows).encode()).hexdigest()


async def test_eight_workers_leave_what_one_leaves(bench):
    """The order in which sessions are stored is chance; what is remembered must not be."""
    left = []
    for workers, who in ((1, "telegram:1"), (WORKERS, "telegram:2")):
        for told_in in told(who, f"home{workers}"):
            await bench.tell(told_in)
        await work(bench, workers)
        left.append(await state(bench, await bench.scope(principal=who, install=f"home{workers}")))
    assert left[0] == left[1]


async def test_one_persons_memory_does_not_wait_for_anothers(bench):
    """The lock is a person's: whoever imports ten years of talk holds up nobody else."""
    mine, other = told("telegram:3", "home3")[:4], told("telegram:4", "home4")[:4]
    await bench.tell(*mine, *other)
    busy = await bench.scope(principal="telegram:3", install="home3")
    async with bench.ctx.db.memory(busy) as conn:
        await blocks.lock(conn, busy)
        await asyncio.wait_for(_store(bench, "home4"), timeout=60)
    assert {"home4": 4} == {
        row["install"]: row["stored"]
        for row in await bench.rows("SELECT install, count(*) AS stored FROM turns WHERE state = 'stored' GROUP BY 1")
    }


async def _store(bench, install: str) -> None:
    """Take the turns of one installation through every stage."""
    for _ in range(4 * len(jobs.STAGES)):
        for name, stage in jobs.STAGES.items():
            async with bench.ctx.db.pipeline() as conn:
                ready = await turns.ready(conn, stage.takes, limit=100, gap_wait_s=0)
            for turn in ready:
                if turn.id.startswith(f"{install}:"):
                    await jobs.run(bench.ctx, name, turn.tenant_id, turn.id, turn.fence)
