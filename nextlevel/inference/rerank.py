"""A cross-encoder behind `POST {base_url}/rerank`: it reads question and text together, and says how well they fit.

Two dialects are in use: `documents` and `relevance_score` (Cohere, Jina, vLLM), `texts` and `score`
(text-embeddings-inference). A server that refuses the first is asked in the second from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, Literal

from nextlevel.errors import ModelBusy, UnusableAnswer
from nextlevel.settings import Settings

from .refusal import passes, reason

_LONGEST_S = 5.0  # whoever asks gives up earlier, by a deadline
_NOT_THIS_DIALECT = frozenset({400, 422})

Dialect = Literal["documents", "texts"]


def open_reranker(settings: Settings) -> Reranker | None:
    """The reranker that the settings name, or None. Asks nobody yet."""
    if settings.rerank_base_url is None:
        return None
    key = None if settings.rerank_api_key is None else settings.rerank_api_key.get_secret_value()
    return Reranker(settings.rerank_base_url, settings.rerank_model, key)


class Reranker:
    """Scores texts against a question. Close with `close`."""

    def __init__(self, base_url: str, model: str | None, api_key: str | None) -> None:
        import openai  # for its connection and its errors: the rest of the protocol is not OpenAI's

        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=_LONGEST_S, max_retries=0
        )
        self._model = {} if model is None else {"model": model}
        self._dialect: Dialect = "documents"

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """How well each text answers, in their order; higher is better, on the model's own scale.

        Raises:
            ModelBusy: no answer can be had now.
            UnusableAnswer: the server refused, or what it said are no scores.
        """
        import openai

        try:
            return _scores(await self._ask(query, texts), len(texts))
        except openai.APIStatusError as error:
            says = f"the reranker answers {error.status_code}: {reason(error)}"
            raise (ModelBusy(says) if passes(error.status_code) else UnusableAnswer("refused", says)) from error
        except openai.APIConnectionError as error:  # a timeout too
            raise ModelBusy(f"the reranker at {self._client.base_url} can't be reached: {error}") from error
        except (openai.OpenAIError, ValueError, TypeError, KeyError) as error:
            raise UnusableAnswer("malformed", f"the reranker's answer can't be read: {error}") from error

    async def close(self) -> None:
        await self._client.close()

    async def _ask(self, query: str, texts: Sequence[str]) -> Any:
        import openai

        try:
            return await self._post(query, texts, self._dialect)
        except openai.APIStatusError as error:
            if self._dialect == "texts" or error.status_code not in _NOT_THIS_DIALECT:
                raise
        answer = await self._post(query, texts, "texts")
        self._dialect = "texts"  # only now: it was the dialect, not the request
        return answer

    async def _post(self, query: str, texts: Sequence[str], dialect: Dialect) -> Any:
        body: dict[str, Any] = {**self._model, "query": query, dialect: list(texts)}
        if dialect == "documents":
            body["top_n"] = len(texts)
        return await self._client.post("/rerank", cast_to=object, body=body)


def _scores(answer: Any, count: int) -> list[float]:
    """The scores by the texts' order.

    >>> _scores({"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}, 2)
    [0.1, 0.9]
    """
    rows = answer["results"] if isinstance(answer, dict) else answer
    by_index = {int(row["index"]): float(row.get("relevance_score", row.get("score"))) for row in rows}
    if by_index.keys() != set(range(count)) or not all(map(isfinite, by_index.values())):
        raise ValueError(f"scores of {len(by_index)} texts, for {count}")
    return [by_index[index] for index in range(count)]
