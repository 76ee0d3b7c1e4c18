"""A language model, to those who use one: messages in, JSON text out. Any OpenAI-compatible server will do.

What can go wrong is of two kinds. The server is away, slow or busy: ModelBusy, and the work waits. It answered, and the
answer can't be used: UnusableAnswer, and asking the same again will hardly help.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from nextlevel.errors import Misconfigured, ModelBusy, UnusableAnswer
from nextlevel.lang.tokens import estimate_tokens
from nextlevel.settings import Settings

from .refusal import passes, reason, retry_after_s

if TYPE_CHECKING:
    from openai import APIStatusError

_NOT_THIS_FORMAT = frozenset({400, 422})

Message = dict[str, str]
"""`{"role": "system" | "user" | "assistant", "content": text}`"""

Format = Literal["json_schema", "json_object"]

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said, word for word. Tokens as the server counts them (0: it did not say); `ms` on our clock."""

    text: str
    tokens_in: int
    tokens_out: int
    ms: int


def document(text: str) -> Any:
    """The JSON document of an answer, without the thoughts and the fence that some models put around it.

    >>> document('<think>A port.</think> ```json\\n{"memories": []}\\n```')
    {'memories': []}

    Raises:
        ValueError: it is none.
    """
    text = _THOUGHTS.sub("", text)
    fenced = _FENCE.match(text)
    try:
        return json.loads(fenced[1] if fenced else text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def tokens_of(messages: Sequence[Message], said: str, counted: tuple[int, int]) -> tuple[int, int]:
    """The tokens in and out of a call: as the server `counted` them, estimated where it did not (0)."""
    tokens_in, tokens_out = counted
    asked = tokens_in or sum(estimate_tokens(message["content"]) for message in messages)
    return asked, tokens_out or estimate_tokens(said)


class LLM(Protocol):
    """Answers in JSON. `model` names the weights and is stored with what they said."""

    model: str

    async def complete(self, messages: Sequence[Message], schema: Mapping[str, Any], *, max_tokens: int) -> Answer:
        """One answer of at most `max_tokens` tokens, held to the JSON schema where the server can do that.

        Raises:
            ModelBusy: no answer can be had now.
            UnusableAnswer: the server or model refused, or the answer was cut off or empty.
        """
        ...

    async def close(self) -> None: ...


def open_llm(settings: Settings) -> LLM | None:
    """The language model that the settings name; None where there is none, or `llm = off`. Asks nobody yet.

    Raises:
        Misconfigured: a server is named, but no model; or a bound in money, but no price.
    """
    if settings.llm == "off" or settings.llm_base_url is None:
        return None
    if settings.llm_model is None:
        raise Misconfigured("NEXTLEVEL_LLM_BASE_URL is set, but not NEXTLEVEL_LLM_MODEL: name the model to ask")
    if settings.llm_money_per_day is not None and settings.llm_price is None:
        raise Misconfigured("NEXTLEVEL_LLM_MONEY_PER_DAY is set, but not NEXTLEVEL_LLM_PRICE: say what the model costs")
    key = None if settings.llm_api_key is None else settings.llm_api_key.get_secret_value()
    return CompatibleLLM(settings.llm_base_url, settings.llm_model, key, timeout_s=settings.llm_timeout_s)


def open_cheaper(settings: Settings) -> LLM | None:
    """The cheaper model of the same server, or None where none is named."""
    if settings.llm_cheaper_model is None:
        return None
    return open_llm(settings.model_copy(update={"llm_model": settings.llm_cheaper_model}))


def open_judge(settings: Settings) -> LLM | None:
    """The model of that server that is asked whether two facts are one, or None where none is named."""
    if settings.llm_judge_model is None:
        return None
    return open_llm(settings.model_copy(update={"llm_model": settings.llm_judge_model}))


class CompatibleLLM:
    """A model behind `POST {base_url}/chat/completions`: Ollama, vLLM, llama.cpp, LM Studio, or a hosted one.

    `timeout_s` bounds a whole answer. A server that asked us to wait is not asked again before. One that knows no JSON
    schema is asked for plain JSON from then on.
    """

    def __init__(self, base_url: str, model: str, api_key: str | None, *, timeout_s: float) -> None:
        import openai  # a second of start-up, that nobody without a model should pay

        self.model = model
        self._timeout_s = timeout_s
        # Its own retries are off: they would hide a busy server from the turn's trace and from the queue's order.
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0
        )
        self._format: Format = "json_schema"
        self._rest_until = 0.0

    async def complete(self, messages: Sequence[Message], schema: Mapping[str, Any], *, max_tokens: int) -> Answer:
        rest_s = self._rest_until - time.monotonic()
        if rest_s > 0:
            raise ModelBusy(f"the model server asked us to wait another {rest_s:.0f} s", retry_after_s=rest_s)
        try:
            return await self._ask(messages, schema, self._format, max_tokens)
        except _FormatRefused:
            answer = await self._ask(messages, schema, "json_object", max_tokens)
            self._format = "json_object"  # only now: it was the format, not the request
            return answer

    async def close(self) -> None:
        await self._client.close()

    async def _ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], answer_format: Format, max_tokens: int
    ) -> Answer:
        # Any: the client's types tell each role's message and each format apart; ours are plain dictionaries.
        shape: Any = {"type": answer_format}
        if answer_format == "json_schema":
            shape["json_schema"] = {"name": "answer", "strict": True, "schema": schema}
        said: Any = list(messages)
        started = time.monotonic()
        async with self._translated(answer_format), asyncio.timeout(self._timeout_s):
            completion = await self._client.chat.completions.create(
                model=self.model, messages=said, response_format=shape, max_tokens=max_tokens, temperature=0
            )
        return _answer(completion, round((time.monotonic() - started) * 1000))

    @asynccontextmanager
    async def _translated(self, answer_format: Format) -> AsyncIterator[None]:
        import openai

        try:
            yield
        except (TimeoutError, openai.APITimeoutError) as error:
            raise ModelBusy(f"{self.model} gave no answer within {self._timeout_s:.0f} s", timed_out=True) from error
        except openai.APIConnectionError as error:
            raise ModelBusy(f"the model server at {self._client.base_url} can't be reached: {error}") from error
        except openai.APIStatusError as error:
            raise self._refusal(error, answer_format) from error
        except (openai.OpenAIError, ValueError) as error:  # no JSON, or JSON of no completion
            raise UnusableAnswer("malformed", f"the server's answer can't be read: {error}") from error

    def _refusal(self, error: APIStatusError, answer_format: Format) -> Exception:
        status = error.status_code
        if passes(status):
            wait_s = retry_after_s(error.response.headers)
            self._rest_until = time.monotonic() + wait_s
            return ModelBusy(f"the model server answers {status}: {reason(error)}", retry_after_s=wait_s)
        if answer_format == "json_schema" and status in _NOT_THIS_FORMAT:
            return _FormatRefused()
        return UnusableAnswer("refused", f"the model server answers {status}: {reason(error)}")


class _FormatRefused(Exception):
    """The server takes no JSON schema, or nothing of the request; asking in the plainer format tells which."""


def _answer(completion: Any, ms: int) -> Answer:
    """The text of a completion, checked: servers that call themselves compatible send many things."""
    choices = getattr(completion, "choices", None)
    if not choices:
        raise UnusableAnswer("malformed", "the server answered without a choice")
    usage = getattr(completion, "usage", None)
    tokens = (getattr(usage, "prompt_tokens", None) or 0, getattr(usage, "completion_tokens", None) or 0)
    choice = choices[0]
    said = choice.message.content or ""
    refusal = getattr(choice.message, "refusal", None)
    if refusal or choice.finish_reason == "content_filter":
        raise UnusableAnswer("refused", str(refusal or "stopped by a content filter")[:200], tokens=tokens)
    if choice.finish_reason == "length":
        raise UnusableAnswer("truncated", "the answer is longer than it may be", said, tokens)
    if not said.strip():
        raise UnusableAnswer("malformed", "the answer is empty", tokens=tokens)
    return Answer(said, *tokens, ms)
