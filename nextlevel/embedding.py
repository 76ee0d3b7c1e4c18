"""By which model this process embeds: the one that memory's vectors are of, which Postgres knows and settings propose.

Vectors of two models are never compared. So a setting alone changes nothing: until `nextlevel reembed` has made the new
model's vectors, the old one's go on, where this process has that model; else words and graph answer alone, and say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from nextlevel.errors import EmbedderUnavailable, NextLevelError
from nextlevel.inference import Embedder, Measures, PackagedEmbedder, measure, open_embedder
from nextlevel.log import get
from nextlevel.settings import Settings
from nextlevel.store import vectors
from nextlevel.store.pool import Database
from nextlevel.store.vectors import Active

LOOK_EVERY_S = 5.0
"""How soon a process follows when another model is taken into use."""

_RETRY_S = 1.0  # while none is in use

log = get("embedding")


class Embedding:
    """The embedder in use, `current`; None: words and graph go on without. Close with `close`.

    `note` tells what is amiss; while it is empty and none is in use, memory could not be asked yet.

    Raises:
        Misconfigured: what the settings name can't be opened at all.
    """

    def __init__(self, settings: Settings, db: Database) -> None:
        self._db = db
        self._opened: dict[str, Embedder] = {}
        self.note = ""
        self.current: Embedder | None = None
        self._configured: Embedder | None = None
        try:
            self._configured = self._keep(open_embedder(settings))
        except EmbedderUnavailable as error:
            self.note = str(error)
            log.error("no_embedder", error=str(error))

    async def close(self) -> None:
        for each in self._opened.values():
            await each.close()

    async def look(self) -> bool:
        """Ask memory which model is in use, and use it. True: it is another than before.

        Raises:
            Transient: Postgres is away, or nothing was ever embedded and the model can't be measured now.
        """
        if self._configured is None:
            return False
        async with self._db.pipeline() as conn:
            active = await vectors.active(conn)
        if active is None:
            first = active_of(self._configured, await self._measured(self._configured))
            async with self._db.pipeline() as conn:
                active = await vectors.claim(conn, first)
        chosen, self.note = await self._choose(self._configured, active)
        if chosen is self.current:
            return False
        self.current = chosen
        log.info("embedder", model=None if chosen is None else chosen.model, note=self.note)
        return True

    async def follow(self, take_up: Callable[[Embedder | None], Awaitable[None]]) -> None:
        """Look for ever, and hand on each change."""
        while True:
            try:
                if await self.look():
                    await take_up(self.current)
            except NextLevelError as error:  # no schema yet, too
                log.warning("embedder_not_looked_up", error=str(error))
            await asyncio.sleep(_RETRY_S if self.current is None else LOOK_EVERY_S)

    async def _measured(self, embedder: Embedder) -> Measures:
        try:
            return await measure(embedder)
        except EmbedderUnavailable as error:
            self.note = str(error)
            raise

    async def _choose(self, configured: Embedder, active: Active) -> tuple[Embedder | None, str]:
        cure = f"run `nextlevel reembed`, or name {active.model} again"
        if active.model == configured.model:
            configured.measures = Measures(active.dimension, active.usual, active.times)
            return configured, ""
        if active.model != PackagedEmbedder.model:
            return None, f"memory's vectors are of {active.model}, the settings name {configured.model}: {cure}"
        try:
            packaged = self._opened.get(active.model) or self._keep(await asyncio.to_thread(PackagedEmbedder))
        except EmbedderUnavailable as error:
            return None, f"memory's vectors are of {active.model}, and {error}"
        return packaged, f"the settings name {configured.model}, memory's vectors are still of {active.model}: {cure}"

    def _keep(self, embedder: Embedder) -> Embedder:
        self._opened[embedder.model] = embedder
        return embedder


def active_of(embedder: Embedder, measures: Measures) -> Active:
    """A model as memory keeps it."""
    return Active(embedder.model, measures.dimension, measures.usual, measures.times)
