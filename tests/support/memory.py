"""A person's memory, written as the store stage writes it, for tests of what reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from nextlevel.cache import Cache
from nextlevel.inference import Embedder
from nextlevel.lang.passages import gist, is_weak, search_words, speaker
from nextlevel.lang.tokens import words
from nextlevel.model import (
    Block,
    BlockStatus,
    BlockType,
    Category,
    EntityType,
    Provenance,
    Scope,
    block_text,
)
from nextlevel.store import blocks, entities, forget, passages, scopes, turns
from nextlevel.store.pool import Database
from tests.support.builders import event

JUNE = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)


@dataclass
class Memory:
    """One person under one profile. `tell` writes a block and raises the generation, as a stored turn does.

    With a `cache` the new generations are published too; without one, readers have to find out by themselves.
    """

    db: Database
    scope: Scope
    install: str
    embedder: Embedder | None = None
    principal: str = "local"
    cache: Cache | None = None
    generations: dict[UUID, int] = field(default_factory=dict)

    async def tell(
        self,
        subject: str,
        predicate: str,
        object_: str,
        *,
        since: datetime = JUNE,
        until: datetime | None = None,
        names: Sequence[tuple[str, EntityType]] = (),
        status: BlockStatus = BlockStatus.ACTIVE,
        replaces: Block | None = None,
        negated: bool = False,
        explicit: bool = False,
        confidence: float = 0.9,
        context: str = "",
        type: BlockType = BlockType.PROJECT_STATE,
        shared: bool = False,
        ttl_days: int = 3650,
        category: Category = Category.PROJECT,
        project: str | None = None,
        source: str | None = None,
    ) -> Block:
        block = Block(
            id=uuid4(),
            scope_id=self.scope.user_scope if shared else self.scope.profile_scope,
            type=type,
            category=category,
            subject=subject,
            predicate=predicate,
            object=object_,
            key=None,
            value=None,
            context=context,
            confidence=confidence,
            provenance=Provenance.USER_STATED,
            status=status,
            negated=negated,
            explicit=explicit,
            project=project,
            created_at=datetime.now(UTC),
            valid_from=since,
            valid_to=until,
            superseded_by=None,
        )
        sentence = block_text(subject, predicate, object_, negated=negated)
        async with self.db.memory(self.scope) as conn:
            await blocks.lock(conn, self.scope)
            entity = await entities.resolve(conn, self.scope, subject, EntityType.TOPIC)
            assert entity is not None
            if replaces is not None:
                await blocks.supersede(conn, self.scope, replaces, by=block.id, at=since, caused_by="test")
            hash_ = hashlib.sha256(block.id.bytes).digest()
            await blocks.insert(
                conn, self.scope, blocks.NewBlock(block, hash_, entity, ttl_days), words(f"{sentence} {context}")
            )
            if source is not None:
                await blocks.add_source(conn, self.scope, block.id, source, sentence, since)
            objects = [await entities.resolve(conn, self.scope, name, kind) for name, kind in names]
            await blocks.add_links(conn, self.scope, block, entity, [each for each in objects if each], [])
            if self.embedder is not None:
                vector = (await self.embedder.passages([sentence]))[0]
                await blocks.add_embedding(conn, self.scope, block.scope_id, block.id, self.embedder.model, vector)
            self.generations |= await scopes.raise_generations(conn, self.scope, [block.scope_id])
        if self.cache is not None:
            await self.cache.publish(self.generations)
        return block

    async def say(
        self,
        text: str,
        answer: str = "Noted.",
        *,
        session: str = "s1",
        turn: int = 1,
        at: datetime = JUNE,
        project: str | None = None,
    ) -> str:
        """A turn, taken in and indexed as a past one; its id."""
        said_on = {} if project is None else {"project": {"name": project}}
        told = event(
            text,
            install=self.install,
            session=session,
            turn=turn,
            at=at.isoformat(),
            assistant_text=answer,
            meta=said_on,
        )
        async with self.db.pipeline() as conn:
            await turns.receive(conn, told, self.scope)
        async with self.db.memory(self.scope) as conn:
            [said] = await passages.take_unindexed(conn, self.scope, limit=1)
            terms = search_words(said.said, said.answered, said.at)
            await passages.add(conn, self.scope, said, speaker=speaker(said.said), weak=is_weak(said.said), words=terms)
            await passages.mark_indexed(conn, self.scope, [told.id])
            if self.embedder is not None:
                [vector] = await self.embedder.passages([gist(said.said, said.answered)])
                await passages.add_embeddings(conn, self.scope, self.embedder.model, {told.id: vector})
            await passages.moved(conn, self.scope)
        return told.id

    async def forget(self, *ids: UUID) -> dict[UUID, int]:
        async with self.db.memory(self.scope) as conn:
            gone = await forget.forget_blocks(conn, self.scope, ids)
        self.generations |= gone.generations
        if self.cache is not None:
            await self.cache.publish(gone.generations)
        return gone.generations


async def person(
    db: Database,
    install: str,
    *,
    user: str = "local",
    tenant: str = "local",
    profile: str = "default",
    principal: str = "local",
    embedder: Embedder | None = None,
    cache: Cache | None = None,
) -> Memory:
    """Enrol an installation of a user, and open the memory of one of its profiles."""
    async with db.pipeline() as conn:
        await scopes.enrol(conn, install, tenant=tenant, user=user)
        scope = await scopes.resolve(conn, install, profile=profile, principal=principal, accept_unenrolled=False)
    return Memory(db, scope, install, embedder, principal, cache)
