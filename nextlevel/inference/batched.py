"""An embedder that takes many texts at once, wherever it runs: queries and passages each in a lane of their own."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nextlevel.errors import EmbedderUnavailable

from .embedder import Measures, Vector, Vectors, readable

MOST_AT_ONCE = 32
"""Texts in one call; servers refuse more, some by default."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants before a text that asks, and before one that is to be found."""

    query: str = ""
    passage: str = ""

    def named(self, model: str) -> str:
        """The model's name with these before its texts: with others its vectors are others."""
        return model if self == Prefixes() else f"{model} [{self.query}|{self.passage}]"


class Backend(Protocol):
    """Where a model runs."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """A row a text, in their order, of any length; at most MOST_AT_ONCE texts.

        Raises:
            EmbedderUnavailable: no vectors can be had now.
        """
        ...

    async def close(self) -> None: ...


class BatchedEmbedder:
    """An `Embedder` over a backend."""

    def __init__(self, name: str, prefixes: Prefixes, backend: Backend) -> None:
        self.model = prefixes.named(name)
        self.measures: Measures | None = None
        self._prefixes = prefixes
        self._backend = backend
        self._queries = _Lane(self._rows)
        self._passages = _Lane(self._rows)

    async def passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.empty((0, 0 if self.measures is None else self.measures.dimension), dtype=np.float32)
        return np.stack(await asyncio.gather(*(self._passages.ask(self._prefixes.passage + text) for text in texts)))

    async def query(self, text: str) -> Vector:
        return await self._queries.ask(self._prefixes.query + text)

    async def close(self) -> None:
        await self._queries.close()
        await self._passages.close()
        await self._backend.close()

    async def _rows(self, texts: Sequence[str]) -> Vectors:
        """Rows of unit length, checked: a vector that is none must not get into memory."""
        rows = await self._backend.embed([readable(text) or " " for text in texts])  # an empty one is refused
        if rows.ndim != 2 or len(rows) != len(texts):
            raise EmbedderUnavailable(f"{self.model} gave no vector for each of {len(texts)} texts")
        if self.measures is not None and rows.shape[1] != self.measures.dimension:
            raise EmbedderUnavailable(
                f"{self.model} gives {rows.shape[1]} numbers, and gave {self.measures.dimension} before: it is another "
                "model under the same name; serve it under a name of its own, and run `nextlevel reembed`"
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise EmbedderUnavailable(f"{self.model} gave a vector without direction")
        unit: Vectors = (rows / lengths).astype(np.float32)
        return unit


class _Lane:
    """One call at a time. Nobody waits to be joined: what comes while a call is out goes in the next, together."""

    def __init__(self, run: Callable[[Sequence[str]], Awaitable[Vectors]]) -> None:
        self._run = run
        self._waiting: deque[tuple[str, asyncio.Future[Vector]]] = deque()
        self._running: asyncio.Task[None] | None = None

    async def ask(self, text: str) -> Vector:
        answer: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        self._waiting.append((text, answer))
        if self._running is None:
            self._running = asyncio.create_task(self._drain())
        return await answer

    async def close(self) -> None:
        """Whoever still waits is told that there will be no answer."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.gather(self._running, return_exceptions=True)

    async def _drain(self) -> None:
        batch: list[tuple[str, asyncio.Future[Vector]]] = []
        try:
            while batch := self._next():
                await self._answer(batch)
        finally:
            self._running = None
            for _, answer in (*batch, *self._waiting):
                if not answer.done():
                    answer.set_exception(EmbedderUnavailable("the embedder was closed"))
            self._waiting.clear()

    def _next(self) -> list[tuple[str, asyncio.Future[Vector]]]:
        """The next call's texts, without those that nobody waits for any longer."""
        batch: list[tuple[str, asyncio.Future[Vector]]] = []
        while self._waiting and len(batch) < MOST_AT_ONCE:
            text, answer = self._waiting.popleft()
            if not answer.done():
                batch.append((text, answer))
        return batch

    async def _answer(self, batch: Sequence[tuple[str, asyncio.Future[Vector]]]) -> None:
        try:
            rows = await self._run([text for text, _ in batch])
        except Exception as error:  # whatever it is, those who asked must hear it, and not wait for ever
            for _, answer in batch:
                if not answer.done():
                    answer.set_exception(error)
        else:
            for (_, answer), row in zip(batch, rows, strict=True):
                if not answer.done():
                    answer.set_result(row)
