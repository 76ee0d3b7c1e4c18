"""Tables blocks, block_versions, block_sources, edges, mentions, embeddings: the write side, one statement a function.

All of it runs inside `Database.memory(scope)`. What to write is decided in workers/steps; here it is only written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from typing import Any
from uuid import UUID

import asyncpg

from nextlevel.model import Block, BlockStatus, BlockType, Category, Provenance, Scope

from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block about to be written, its subject resolved. `hash` is the fact's SHA-256; `ttl_days` its life unused."""

    block: Block
    hash: bytes
    subject_entity: UUID
    ttl_days: int


@dataclass(frozen=True, slots=True)
class Rival:
    """A block that a new fact may repeat or replace, when it was told, first to last, and in which sessions."""

    block: Block
    told: tuple[datetime, ...]
    sessions: frozenset[str] = frozenset()


async def lock(conn: Connection, scope: Scope) -> None:
    """Be the only one to write this person's memory until the transaction ends."""
    await conn.execute(SQL.blocks.lock_user, scope.tenant_id, scope.user_id)


async def plan_each(conn: Connection) -> None:
    """Have each statement of this transaction planned for its own parameters, as `lock` does, without the lock."""
    await conn.execute(SQL.blocks.plan_each)


async def turn_is_tombstoned(conn: Connection, scope: Scope, turn_id: str) -> bool:
    return bool(await conn.fetchval(SQL.blocks.tombstoned_turn, scope.tenant_id, scope.user_id, turn_id))


async def forgotten_facts(conn: Connection, scope: Scope, hashes: Sequence[bytes], told_at: datetime) -> set[bytes]:
    """Which of these facts were forgotten after `told_at`: they must not come back."""
    rows = await conn.fetch(
        SQL.blocks.tombstoned_facts, scope.tenant_id, scope.user_id, [each.hex() for each in hashes], told_at
    )
    return {bytes.fromhex(row["ref"]) for row in rows}


async def same_fact(conn: Connection, scope: Scope, scope_id: UUID, fact: bytes) -> Block | None:
    """The living block that says exactly this."""
    row = await conn.fetchrow(SQL.blocks.same_fact, scope.tenant_id, scope_id, fact)
    return None if row is None else block_of(row)


async def rivals(
    conn: Connection, scope: Scope, scope_id: UUID, subject_entity: UUID, words: Sequence[str], since: datetime
) -> list[Rival]:
    """What a fact that holds from `since` may repeat or replace, newest first. Bounded, never a scan of the scope."""
    rows = await conn.fetch(
        SQL.blocks.rivals, scope.tenant_id, scope_id, subject_entity, list(words), since, scope.user_id
    )
    found = [_rival(row) for row in rows]
    return sorted(found, key=lambda rival: (rival.block.valid_from, rival.block.id), reverse=True)


async def rivals_of(conn: Connection, scope: Scope, block: Block, words: Sequence[str]) -> list[Rival]:
    """What a stored block may repeat or replace, or be repeated or replaced by."""
    subject: UUID = await conn.fetchval(SQL.blocks.subject_of, scope.tenant_id, block.id)
    found = await rivals(conn, scope, block.scope_id, subject, words, block.valid_from)
    return [rival for rival in found if rival.block.id != block.id]


async def told(conn: Connection, scope: Scope, block_ids: Collection[UUID]) -> list[Rival]:
    """Blocks by id, with when they were told."""
    return [_rival(row) for row in await conn.fetch(SQL.blocks.told, scope.tenant_id, list(block_ids))]


def _rival(row: asyncpg.Record) -> Rival:
    block = block_of(row)
    return Rival(block, tuple(row["told"] or (block.valid_from,)), frozenset(row["sessions"] or ()))


async def near_words(conn: Connection, words: Sequence[str], *, limit: int) -> list[Block]:
    """The active blocks of this wall that share most words with a text, best first."""
    return [block_of(row) for row in await conn.fetch(SQL.blocks.near_words, list(words), limit)]


async def insert(conn: Connection, scope: Scope, new: NewBlock, words: Sequence[str]) -> None:
    """Write a block and index its words."""
    block = new.block
    await conn.execute(
        SQL.blocks.insert,
        scope.tenant_id,
        block.id,
        block.scope_id,
        scope.user_id,
        block.type,
        block.category,
        block.subject,
        block.predicate,
        block.object,
        block.key,
        block.value,
        block.context,
        block.negated,
        block.explicit,
        block.confidence,
        block.provenance,
        block.status,
        block.project,
        new.subject_entity,
        new.hash,
        block.valid_from,
        block.valid_to,
        block.superseded_by,
        new.ttl_days,
        int((block.valid_from.utcoffset() or timedelta()).total_seconds() // 60),
    )
    await conn.execute(SQL.blocks.index_words, block.id, block.scope_id, list(words))


async def confirm(
    conn: Connection,
    scope: Scope,
    block: Block,
    *,
    confidence: float,
    status: BlockStatus,
    provenance: Provenance,
    ttl_days: int,
    since: datetime,
    caused_by: str,
) -> None:
    """The same fact was told again: surer, and alive for longer; `provenance` vouches for it now."""
    await _version(conn, scope, block.id, "confirmed", caused_by)
    await conn.execute(SQL.blocks.confirm, scope.tenant_id, block.id, confidence, status, ttl_days, provenance, since)


async def use(
    conn: Connection, scope: Scope, ttl_days: Mapping[UUID, int], *, at: datetime
) -> tuple[tuple[UUID, ...], set[UUID]]:
    """Blocks were made use of at `at`: each lives its days from now on. Those that did, and the scopes that changed."""
    rows = await conn.fetch(SQL.blocks.use, scope.tenant_id, list(ttl_days), list(ttl_days.values()), at)
    return tuple(row["block_id"] for row in rows), {row["scope_id"] for row in rows if row["extended"]}


async def supersede(conn: Connection, scope: Scope, block: Block, *, by: UUID, at: datetime, caused_by: str) -> None:
    """Close a block's validity at its successor's start, and link it there."""
    await _version(conn, scope, block.id, "superseded", caused_by)
    await conn.execute(SQL.blocks.supersede, scope.tenant_id, block.id, at, by)


async def told_as(conn: Connection, scope: Scope, block: Block, at: datetime) -> UUID | None:
    """The block that was told at a time, and for which this one stands."""
    found: UUID | None = await conn.fetchval(SQL.blocks.told_as, scope.tenant_id, block.id, at)
    return found


async def resume(
    conn: Connection, scope: Scope, block: Block, *, anew: UUID, at: datetime, words: Sequence[str], caused_by: str
) -> None:
    """Let a block that was just superseded go on from a time on, as `anew`, on the turns that told it since."""
    tenant, was = scope.tenant_id, (block.status, block.valid_to, block.superseded_by)
    await _version(conn, scope, anew, "restored", caused_by)  # none where the block is new
    if not await conn.fetchval(SQL.blocks.revive, tenant, anew, *was):
        await conn.execute(SQL.blocks.resume, tenant, block.id, anew, at, *was)
        await conn.execute(SQL.blocks.resume_links, tenant, block.id, anew)
        await conn.execute(SQL.blocks.index_words, anew, block.scope_id, list(words))
    await conn.execute(SQL.blocks.copy_sources, tenant, block.id, anew, at)
    await conn.execute(SQL.blocks.drop_sources, tenant, block.id, at)
    await conn.execute(SQL.blocks.stand_for, tenant, block.id, anew, at)


async def retract(conn: Connection, scope: Scope, block: Block, *, at: datetime, caused_by: str) -> None:
    """Close a block's validity without a successor."""
    await _version(conn, scope, block.id, "retracted", caused_by)
    await conn.execute(SQL.blocks.retract, scope.tenant_id, block.id, at)


async def undo_retraction(conn: Connection, scope: Scope, block: Block, *, caused_by: str) -> None:
    """Let a block hold again as it did before it was retracted."""
    await _version(conn, scope, block.id, "restored", caused_by)
    await conn.execute(SQL.blocks.restore, scope.tenant_id, block.id, "retracted")


async def reinstate(
    conn: Connection,
    scope: Scope,
    block: Block,
    status: BlockStatus,
    valid_to: datetime | None,
    superseded_by: UUID | None,
    *,
    caused_by: str,
) -> None:
    """Let a block end otherwise than it did, or not at all."""
    await _version(conn, scope, block.id, "restored", caused_by)
    await conn.execute(SQL.blocks.revive, scope.tenant_id, block.id, status, valid_to, superseded_by)


async def learnt_from_deeds(conn: Connection, scope: Scope, turn_id: str) -> list[Block]:
    """The living blocks that stand on this turn alone, and not on the user's own word."""
    return [block_of(row) for row in await conn.fetch(SQL.blocks.learnt_from_deeds, scope.tenant_id, turn_id)]


async def restore_replaced(
    conn: Connection, scope: Scope, block_id: UUID, *, caused_by: str, but_told_by: Sequence[str] = ()
) -> list[Block]:
    """Let what a block had replaced hold again, as it did before, but for what only some turns told; those blocks."""
    rows = await conn.fetch(SQL.blocks.replaced_by, scope.tenant_id, block_id, list(but_told_by))
    for row in rows:
        await _version(conn, scope, row["block_id"], "restored", caused_by)
        await conn.execute(SQL.blocks.restore, scope.tenant_id, row["block_id"], "superseded")
    return [block_of(row) for row in rows]


async def undo_turn(conn: Connection, scope: Scope, turn_id: str, block_ids: Sequence[UUID]) -> set[UUID]:
    """Let hold again what an undone turn had ended: by the blocks that stand on it alone, and by its word.

    What has meanwhile been replaced by something else holds until that. Returns the scopes that changed.
    """
    changed: set[UUID] = set()
    for block_id in block_ids:
        outlived = [row["block_id"] for row in await conn.fetch(SQL.blocks.outlived_by, scope.tenant_id, block_id)]
        for each in outlived:
            await _version(conn, scope, each, "superseded", turn_id)
        await conn.execute(SQL.blocks.hand_on, scope.tenant_id, block_id, outlived)
        changed |= {old.scope_id for old in await restore_replaced(conn, scope, block_id, caused_by=turn_id)}
    for row in await conn.fetch(SQL.blocks.retracted_by, scope.tenant_id, turn_id):
        await _version(conn, scope, row["block_id"], "restored", turn_id)
        await conn.execute(SQL.blocks.restore, scope.tenant_id, row["block_id"], "retracted")
        changed.add(row["scope_id"])
    return changed


async def add_source(conn: Connection, scope: Scope, block_id: UUID, turn_id: str, span: str, at: datetime) -> bool:
    """Let a block stand on one more turn. False: it stands on it already."""
    added = await conn.fetchval(SQL.blocks.add_source, scope.tenant_id, block_id, turn_id, span[:2000], at)
    return added is not None


async def share_sources(conn: Connection, scope: Scope, block: Rival, to: UUID) -> None:
    """Let another block stand on all turns that told this one too: whoever forgets it hides them."""
    await conn.execute(SQL.blocks.copy_sources, scope.tenant_id, block.block.id, to, block.told[0])


async def add_links(
    conn: Connection, scope: Scope, block: Block, subject: UUID, objects: Sequence[UUID], mentioned: Sequence[UUID]
) -> None:
    """The block as edges, from its subject to each entity it names as object, and as mentions."""
    tenant = scope.tenant_id
    for each in objects:
        if each != subject:
            await conn.execute(SQL.blocks.add_edge, tenant, block.id, block.scope_id, subject, block.predicate, each)
    for each in sorted({subject, *objects, *mentioned}):
        await conn.execute(SQL.blocks.add_mention, tenant, block.id, each, block.scope_id)


async def add_embedding(
    conn: Connection, scope: Scope, scope_id: UUID, block_id: UUID, model: str, vector: Any
) -> None:
    """Keep a block's unit vector under its model's name."""
    await conn.execute(SQL.blocks.add_embedding, scope.tenant_id, scope_id, block_id, model, vector)


async def touch(conn: Connection, scope: Scope, block_ids: Collection[UUID]) -> None:
    """Let readers take these blocks anew, though no word of them has changed."""
    await conn.execute(SQL.blocks.touch, scope.tenant_id, list(block_ids))


async def unembedded(conn: Connection, model: str, *, limit: int) -> list[asyncpg.Record]:
    """Blocks of this wall that `model` has not seen yet, oldest first."""
    return list(await conn.fetch(SQL.blocks.unembedded, model, limit))


async def only_from(conn: Connection, scope: Scope, turn_id: str) -> list[UUID]:
    """The blocks that stand on this turn alone."""
    return [row["block_id"] for row in await conn.fetch(SQL.blocks.only_from, scope.tenant_id, turn_id)]


async def _version(conn: Connection, scope: Scope, block_id: UUID, change: str, caused_by: str) -> None:
    await conn.execute(SQL.blocks.add_version, scope.tenant_id, block_id, change, caused_by)


# A question reads 180 blocks: to look a member up takes a tenth of the time of a call to its enum.
_TYPES = {each.value: each for each in BlockType}
_CATEGORIES = {each.value: each for each in Category}
_PROVENANCES = {each.value: each for each in Provenance}
_STATUSES = {each.value: each for each in BlockStatus}


def block_of(row: asyncpg.Record) -> Block:
    """A Block from a row of table blocks; when it held is told in the speaker's own zone."""
    zone = _zone(row["utc_offset_min"])
    return Block(
        id=row["block_id"],
        scope_id=row["scope_id"],
        type=_TYPES[row["type"]],
        category=_CATEGORIES[row["category"]],
        subject=row["subject"],
        predicate=row["predicate"],
        object=row["object"],
        key=row["key"],
        value=row["value"],
        context=row["context"],
        confidence=row["confidence"],
        provenance=_PROVENANCES[row["provenance"]],
        status=_STATUSES[row["status"]],
        negated=row["negated"],
        explicit=row["explicit"],
        project=row["project"],
        created_at=row["created_at"],
        valid_from=row["valid_from"].astimezone(zone),
        valid_to=row["valid_to"] and row["valid_to"].astimezone(zone),
        superseded_by=row["superseded_by"],
    )


@cache
def _zone(minutes: int) -> timezone:
    return timezone(timedelta(minutes=minutes))
