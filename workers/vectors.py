"""Vectors of what is stored already, a batch a scope: for upkeep, which fills gaps, and for re-embedding.

The model is asked between two transactions, so that no row is locked while a GPU thinks. Made twice they are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from nextlevel.inference import Embedder
from nextlevel.lang.passages import gist
from nextlevel.model import Scope, block_text
from nextlevel.store import blocks, library, passages, scopes, vectors
from nextlevel.store.pool import Database

AT_ONCE = 32


async def of_blocks(db: Database, embedder: Embedder, scope: Scope, *, tell: bool) -> tuple[int, dict[UUID, int]]:
    """Make vectors of blocks that have none of this model. `tell` readers, if they compare by it: the generations."""
    async with db.memory(scope) as conn:
        rows = await blocks.unembedded(conn, embedder.model, limit=AT_ONCE)
    texts = [block_text(r["subject"], r["predicate"], r["object"], negated=r["negated"]) for r in rows]
    made = dict(zip((r["block_id"] for r in rows), await embedder.passages(texts), strict=True))
    generations: dict[UUID, int] = {}
    async with db.memory(scope) as conn:
        await vectors.add(conn, scope, embedder.model, made)
        if tell:
            await blocks.touch(conn, scope, list(made))
            generations = await scopes.raise_generations(conn, scope, {row["scope_id"] for row in rows})
    return len(rows), generations


async def of_passages(db: Database, embedder: Embedder, scope: Scope, *, asked_at_once: int = 4) -> int:
    """Make vectors of past turns that have none of this model. A block that comes meanwhile waits for those asked."""
    async with db.memory(scope) as conn:
        rows = await passages.unembedded(conn, scope, embedder.model, limit=AT_ONCE)
    texts = [(turn_id, gist(said, answered)) for turn_id, said, answered in rows]
    found = await _made(embedder, texts, asked_at_once)
    async with db.memory(scope) as conn:
        await passages.add_embeddings(conn, scope, embedder.model, found)
        await passages.moved(conn, scope)
    return len(rows)


async def of_sections(db: Database, embedder: Embedder, scope: Scope, *, asked_at_once: int = 4) -> int:
    """Make vectors of sections of documents that have none of this model."""
    async with db.memory(scope) as conn:
        texts = await library.unembedded(conn, scope, embedder.model, limit=AT_ONCE)
    found = await _made(embedder, texts, asked_at_once)
    async with db.memory(scope) as conn:
        await library.add_embeddings(conn, scope, embedder.model, found)
    return len(texts)


async def _made(embedder: Embedder, texts: Sequence[tuple[str, str]], asked_at_once: int) -> dict[str, passages.Vector]:
    """The vector of each text by its id, a few asked at a time."""
    found: dict[str, passages.Vector] = {}
    for start in range(0, len(texts), asked_at_once):
        part = texts[start : start + asked_at_once]
        made = await embedder.passages([text for _, text in part])
        found |= {id: row for (id, _), row in zip(part, made, strict=True)}
    return found
