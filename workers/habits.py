"""Habits become preferences: upkeep looks at what people chose lately, and keeps what steps/choices.py finds.

Explainable: the block names how often and where, and all those turns are its sources. Bounded: people who were active,
a hundred a run, their last 2,000 turns of half a year. Repeatable: the same turns make the same block again. It is
never against what the person said: a stated preference about the same kind of tool keeps a habit out, and replaces one
that was there. It goes when its turns no longer show it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid4

from nextlevel import log
from nextlevel.cache import publish_generations
from nextlevel.lang.tokens import words
from nextlevel.model import Block, BlockStatus, BlockType, Category, EntityType, Provenance, Scope, block_text
from nextlevel.store import blocks, entities, habits, scopes, trace
from nextlevel.store.blocks import NewBlock
from nextlevel.store.pool import Connection

from .context import WorkerContext
from .steps import choices, classify
from .steps.choices import FEWEST_TURNS, Habit
from .steps.dedup import fact_hash

PREDICATE = "prefers"
PEOPLE_AT_ONCE = 100
_ACTIVE_WITHIN_S = 2 * 3600.0
_DAYS, _MOST_TURNS = 180, 2_000

_log = log.get("upkeep")


async def learn_habits(ctx: WorkerContext) -> int:
    """Look at the people who were active in the last two hours. Returns how many blocks changed."""
    async with ctx.db.pipeline() as conn:
        active = await habits.active_people(conn, within_s=_ACTIVE_WITHIN_S, limit=PEOPLE_AT_ONCE)
    changed = sum([await _learn(ctx, person) for person in active])
    if changed:
        _log.info("habits_learnt", blocks=changed)
    return changed


async def _learn(ctx: WorkerContext, person: Scope) -> int:
    async with ctx.db.memory(person) as conn:
        # Under the lock from the first read on: a turn that is undone meanwhile must become no source.
        await blocks.lock(conn, person)
        turns = await habits.turns(conn, person, days=_DAYS, limit=_MOST_TURNS)
        found = await asyncio.to_thread(choices.habits, turns)  # 2,000 turns take about 0.1 s
        here = _Person(conn, person, found, await habits.tastes(conn, person))
        changed = await here.keep()
        generations = await scopes.raise_generations(conn, person, {person.user_scope}) if changed else {}
    await publish_generations(ctx.redis, generations)
    return changed


class _Person:
    """One person's habits, in one transaction under their lock."""

    def __init__(self, conn: Connection, scope: Scope, found: Sequence[Habit], tastes: Sequence[Block]) -> None:
        self._conn, self._scope = conn, scope
        self._found = {habit.group: habit for habit in found}
        self._stated = [block for block in tastes if block.provenance is not Provenance.INFERRED]
        self._inferred = {block.key: block for block in tastes if block.provenance is Provenance.INFERRED}
        self.changed = 0

    async def keep(self) -> int:
        """Bring the person's inferred preferences to what their turns show now; how many blocks changed."""
        for group in choices.groups():
            known, habit, stated = self._inferred.get(group), self._found.get(group), self._stated_about(group)
            if stated is not None:
                if known is not None:
                    await blocks.supersede(
                        self._conn, self._scope, known, by=stated.id, at=stated.valid_from, caused_by=str(stated.id)
                    )
                    self.changed += 1
            elif habit is None:
                if known is not None:
                    await self._withdraw(known)
            elif known is not None and known.value == habit.name:
                await self._confirm(known, habit)
            else:
                await self._insert(habit, known)
        return self.changed

    def _stated_about(self, group: str) -> Block | None:
        """What the person said themselves about this kind of tool, for it or against it."""
        return next((block for block in self._stated if choices.speaks_of(block.object, group)), None)

    async def _withdraw(self, known: Block) -> None:
        await blocks.retract(self._conn, self._scope, known, at=datetime.now(UTC), caused_by="no longer shown by turns")
        self.changed += 1

    async def _confirm(self, known: Block, habit: Habit) -> None:
        if not await self._add_sources(known.id, habit):
            return
        await blocks.confirm(
            self._conn,
            self._scope,
            known,
            confidence=habit.confidence,
            status=known.status,
            provenance=Provenance.INFERRED,
            ttl_days=classify.ttl_days(BlockType.USER_PREFERENCE),
            since=known.valid_from,
            caused_by=habit.choices[-1].turn,
        )
        self.changed += 1

    async def _insert(self, habit: Habit, replaces: Block | None) -> None:
        fact = fact_hash("user", PREDICATE, habit.name, negated=False, project=None)
        # Forgotten: it takes three new choices to bring it back.
        third_last = habit.choices[-FEWEST_TURNS].at
        if await blocks.forgotten_facts(self._conn, self._scope, [fact], third_last):
            return
        if await blocks.same_fact(self._conn, self._scope, self._scope.user_scope, fact) is not None:
            return  # said, and waiting in review
        subject = await entities.resolve(self._conn, self._scope, "user", EntityType.PERSON)
        tool = await entities.resolve(self._conn, self._scope, habit.name, EntityType.TECHNOLOGY)
        if subject is None or tool is None:
            raise AssertionError(f"{habit.name!r} in choices.toml is no name")
        block = _block(self._scope, habit)
        if replaces is not None:
            at = habit.choices[-1].at
            await blocks.supersede(
                self._conn, self._scope, replaces, by=block.id, at=at, caused_by=habit.choices[-1].turn
            )
        new = NewBlock(block, fact, subject, classify.ttl_days(block.type))
        text = block_text(block.subject, block.predicate, block.object)
        await blocks.insert(self._conn, self._scope, new, words(f"{text} {habit.group.replace('_', ' ')}"))
        await blocks.add_links(self._conn, self._scope, block, subject, [tool], [])
        await self._add_sources(block.id, habit)
        last = habit.choices[-1].turn
        await trace.add(
            self._conn,
            self._scope.tenant_id,
            last,
            "habit",
            block=str(block.id),
            turns=len(habit.choices),
            group=habit.group,
        )
        self.changed += 1

    async def _add_sources(self, block: UUID, habit: Habit) -> bool:
        """Let the block stand on all turns that show it. False: it does already."""
        new = [
            await blocks.add_source(self._conn, self._scope, block, each.turn, each.span, each.at)
            for each in habit.choices
        ]
        return any(new)


def _block(scope: Scope, habit: Habit) -> Block:
    return Block(
        id=uuid4(),  # run again, the living block is found first; one that was withdrawn is not taken up again
        scope_id=scope.user_scope,
        type=BlockType.USER_PREFERENCE,
        category=Category.WORKFLOW,
        subject="user",
        predicate=PREDICATE,
        object=habit.name,
        key=habit.group,
        value=habit.name,
        context=f"chosen in {len(habit.choices)} turns of {habit.sessions} sessions; never said",
        confidence=habit.confidence,
        provenance=Provenance.INFERRED,
        status=BlockStatus.ACTIVE,
        negated=False,
        explicit=False,
        project=None,
        created_at=datetime.now(UTC),
        valid_from=habit.choices[0].at,
        valid_to=None,
        superseded_by=None,
    )
