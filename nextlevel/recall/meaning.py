"""By which model meaning is compared, and what this process holds of that model: hot scopes, the vectors of queries."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from nextlevel.errors import EmbedderUnavailable
from nextlevel.inference import Embedder, Vector
from nextlevel.log import get
from nextlevel.store.pool import Database

from .hot_scopes import HotScopes

_KEPT_VECTORS = 2_048

log = get("recall")


class Meaning:
    """One model, from the moment that recall takes it up. Close with `close`.

    An `embedder` of None, or one that nobody has measured yet: words and graph answer alone.
    """

    def __init__(self, db: Database, embedder: Embedder | None, *, hot_scopes: int) -> None:
        self.measures = None if embedder is None else embedder.measures
        self._embedder = None if self.measures is None else embedder
        self.model = "" if self._embedder is None else self._embedder.model
        dimension = 1 if self.measures is None else self.measures.dimension
        self.hot = HotScopes(db, model=self.model, dimension=dimension, most=hot_scopes)
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    async def close(self) -> None:
        await self.hot.close()

    async def vector(self, text: str, wait_s: float) -> Vector | None:
        """The query's vector, or None if it can't be had in time."""
        if self._embedder is None:
            return None
        known = self._vectors.get(text)
        if known is not None:
            self._vectors.move_to_end(text)
            return known
        try:
            async with asyncio.timeout(max(wait_s, 0)):
                vector = await self._embedder.query(text)
        except TimeoutError:
            return None
        except EmbedderUnavailable as error:
            log.warning("no_query_vector", error=str(error))
            return None
        self._vectors[text] = vector
        if len(self._vectors) > _KEPT_VECTORS:
            self._vectors.popitem(last=False)
        return vector
