"""Past turns made findable, behind everything else: their words at once, their vectors when no block waits for one.
Behind these the vectors of documents.

Not a stage of the pipeline: a turn is done whether or not it was indexed, and those from before this existed are
indexed in the same way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nextlevel import log
from nextlevel.errors import EmbedderUnavailable, Transient
from nextlevel.inference import Embedder
from nextlevel.lang.passages import is_weak, search_words, speaker
from nextlevel.model import Scope
from nextlevel.queue import names
from nextlevel.redis_client import translated
from nextlevel.store import library, passages, scopes
from nextlevel.store.pool import Connection, Database

from . import vectors
from .context import WorkerContext

LOOK_EVERY_S = 5.0
_INDEXED_AT_ONCE = 100
_CLAIMED_S = 120

_Lacking = Callable[[Connection, str], Awaitable[list[Scope]]]
_Make = Callable[[Database, Embedder, Scope], Awaitable[int]]

_log = log.get("passages")


async def keep_indexed(ctx: WorkerContext) -> None:
    """Index what comes, for ever; a store or a model that is away is waited for."""
    while True:
        try:
            worked = await index_turns(ctx) + (await embed_passages(ctx) or await embed_sections(ctx))
        except (Transient, EmbedderUnavailable) as error:
            _log.warning("passages_wait", error=str(error))
            worked = 0
        if not worked:
            await asyncio.sleep(LOOK_EVERY_S)


async def index_turns(ctx: WorkerContext) -> int:
    """Make the passages of turns that have none, one batch a scope. Returns how many."""
    made = 0
    async with ctx.db.pipeline() as conn:
        waiting = await passages.unindexed(conn)
    for scope in waiting:
        async with ctx.db.memory(scope) as conn:
            turns = await passages.take_unindexed(conn, scope, limit=_INDEXED_AT_ONCE)
            if not turns:
                continue
            for each in turns:
                words = search_words(each.said, each.answered, each.at)
                await passages.add(conn, scope, each, speaker=speaker(each.said), weak=is_weak(each.said), words=words)
            await passages.mark_indexed(conn, scope, [each.turn_id for each in turns])
            await passages.moved(conn, scope)
        made += len(turns)
    return made


async def embed_passages(ctx: WorkerContext) -> int:
    """Make vectors of passages, one batch a scope, unless a block waits for its own. Returns how many."""
    return await _embed_behind_blocks(ctx, passages.without_vectors, vectors.of_passages)


async def embed_sections(ctx: WorkerContext) -> int:
    """The same for sections of documents."""
    return await _embed_behind_blocks(ctx, library.without_vectors, vectors.of_sections)


async def _embed_behind_blocks(ctx: WorkerContext, lacking: _Lacking, make: _Make) -> int:
    embedder = ctx.embedder
    if embedder is None:
        return 0
    async with ctx.db.pipeline() as conn:
        if await scopes.without_vectors(conn, embedder.model):
            return 0
        waiting = await lacking(conn, embedder.model)
    return sum([await _embed(ctx, make, embedder, scope) for scope in waiting])


async def _embed(ctx: WorkerContext, make: _Make, embedder: Embedder, scope: Scope) -> int:
    """Make one batch, unless another worker is at this scope."""
    if not await _claim(ctx, scope):
        return 0
    try:
        return await make(ctx.db, embedder, scope)
    finally:
        with translated():
            await ctx.redis.delete(names.embedding(scope.profile_scope))


async def _claim(ctx: WorkerContext, scope: Scope) -> bool:
    """Let one worker at a time embed a scope: two would make the same vectors."""
    with translated():
        return bool(await ctx.redis.set(names.embedding(scope.profile_scope), b"1", nx=True, ex=_CLAIMED_S))
