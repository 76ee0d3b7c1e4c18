"""Another model's vectors for all that is stored, while recall goes on by those there are; then all switch at once.

Each batch is kept as it is made. Whoever stops it loses one batch, and it goes on from there when it is run again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from nextlevel.embedding import LOOK_EVERY_S, active_of
from nextlevel.inference import Embedder, measure
from nextlevel.store import library, passages, scopes, vectors
from nextlevel.store.pool import Database
from nextlevel.store.vectors import Counted

from ..vectors import AT_ONCE, of_blocks, of_passages, of_sections

_COUNTED_EVERY_S = 2.0  # a count looks at every row


async def make_all(db: Database, embedder: Embedder, tell: Callable[[Counted], None]) -> None:
    """Make this model's vectors of every block, past turn and document; what comes meanwhile is made too.

    Raises:
        EmbedderUnavailable: the model can't be asked now. What is made is kept.
    """
    while True:
        async with db.pipeline() as conn:
            counted = await vectors.count(conn, embedder.model)
            of = await scopes.without_vectors(conn, embedder.model)
            past = [] if of else await passages.without_vectors(conn, embedder.model)
            documents = [] if of or past else await library.without_vectors(conn, embedder.model)
        tell(counted)
        if not (of or past or documents):
            return
        until = time.monotonic() + _COUNTED_EVERY_S
        for scope in of:
            while (await of_blocks(db, embedder, scope, tell=False))[0] and time.monotonic() < until:
                pass
        for scope in past:
            while await of_passages(db, embedder, scope, asked_at_once=AT_ONCE) and time.monotonic() < until:
                pass
        for scope in documents:
            while await of_sections(db, embedder, scope, asked_at_once=AT_ONCE) and time.monotonic() < until:
                pass


async def switch(db: Database, embedder: Embedder) -> bool:
    """Let recall compare by this model from now on, in every process. False: it does already."""
    to = active_of(embedder, await measure(embedder))
    async with db.pipeline() as conn:
        if await vectors.active(conn) == to:
            return False
        await vectors.switch(conn, to)
    return True


async def drop_old(db: Database, *, switched: bool, wait_s: float = 2 * LOOK_EVERY_S) -> int:
    """Remove the vectors of all models but the one in use; how many. Once others have followed, where it `switched`."""
    if switched:
        await asyncio.sleep(wait_s)
    async with db.pipeline() as conn:
        old = await vectors.scopes_with_old(conn)
    removed = 0
    for scope in old:
        async with db.memory(scope) as conn:
            removed += await vectors.drop_old(conn, scope)
    return removed
