"""Vectors from `POST {base_url}/embeddings`: Ollama, vLLM, llama.cpp, text-embeddings-inference, or a hosted one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from nextlevel.errors import EmbedderUnavailable

from .embedder import Vectors
from .refusal import passes, reason, retry_after_s

if TYPE_CHECKING:
    from openai import APIStatusError

_TOO_MUCH = frozenset({400, 413, 422})  # a text too long, or too many
_CUT_DOWN_TO = 100  # characters; what is refused even so is not refused for its length


class Endpoint:
    """A `Backend` behind an OpenAI-compatible server. `timeout_s` bounds one call.

    A server that asked us to wait is not asked again before. Texts that it refuses together are given one by one, and
    one that it refuses alone is cut: how long a text may be is the server's secret.
    """

    def __init__(self, base_url: str, model: str, api_key: str | None, *, timeout_s: float) -> None:
        import openai  # a second of start-up, that nobody without a server should pay

        self._model = model
        self._timeout_s = timeout_s
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0
        )
        self._rest_until = 0.0
        self._has_worked = False

    async def embed(self, texts: Sequence[str]) -> Vectors:
        try:
            rows = await self._ask(texts)
        except _TooMuch:
            # Until the server has once said yes, a no is about the model or the key, not about these texts.
            if not self._has_worked or (len(texts) == 1 and len(texts[0]) <= _CUT_DOWN_TO):
                raise
            if len(texts) == 1:
                return await self.embed([texts[0][: len(texts[0]) // 2]])
            return np.concatenate([await self.embed([text]) for text in texts])
        self._has_worked = True
        return rows

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, texts: Sequence[str]) -> Vectors:
        rest_s = self._rest_until - time.monotonic()
        if rest_s > 0:
            raise EmbedderUnavailable(f"the embedding server asked us to wait another {rest_s:.0f} s")
        async with self._translated(), asyncio.timeout(self._timeout_s):
            # As plain JSON: the client's own types look at each number by itself, 5 ms for a vector of 1,024.
            body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
            said: Any = await self._client.post("/embeddings", cast_to=object, body=body)
            # Inside: a server that calls itself compatible may send anything.
            rows = {int(row.get("index", place)): row["embedding"] for place, row in enumerate(said["data"])}
            return np.array([rows[place] for place in range(len(rows))], dtype=np.float32)

    @asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        import openai

        try:
            yield
        except (TimeoutError, openai.APITimeoutError) as error:
            raise EmbedderUnavailable(f"{self._model} gave no vectors within {self._timeout_s:g} s") from error
        except openai.APIConnectionError as error:
            raise EmbedderUnavailable(
                f"the embedding server at {self._client.base_url} can't be reached: {error}"
            ) from error
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except (
            openai.OpenAIError,
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
        ) as error:  # no JSON, or JSON of no vectors
            raise EmbedderUnavailable(f"the embedding server's answer can't be read: {error}") from error

    def _refusal(self, error: APIStatusError) -> EmbedderUnavailable:
        says = f"the embedding server answers {error.status_code}: {reason(error)}"
        if passes(error.status_code):
            self._rest_until = time.monotonic() + retry_after_s(error.response.headers)
        return _TooMuch(says) if error.status_code in _TOO_MUCH else EmbedderUnavailable(says)


class _TooMuch(EmbedderUnavailable):
    """The server takes no such texts, or not so many; or nothing of the request."""
