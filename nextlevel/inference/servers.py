"""Model servers that speak OpenAI's protocol, as one who sets them up asks them: which models, and do they embed?"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nextlevel.errors import ModelBusy, UnusableAnswer

if TYPE_CHECKING:
    from openai import AsyncOpenAI


@dataclass(frozen=True, slots=True)
class Embedded:
    """What one text became: so many numbers, in so many milliseconds."""

    dimension: int
    ms: int


async def models(base_url: str, api_key: str | None, *, timeout_s: float) -> list[str]:
    """The names of a server's models, in its order.

    Raises:
        ModelBusy: nobody answers in time, or not now.
        UnusableAnswer: who answers is no such server, or refuses us.
    """
    async with _client(base_url, api_key, timeout_s) as client:
        return [model.id for model in (await client.models.list()).data or ()]


async def embed(base_url: str, model: str, api_key: str | None, text: str, *, timeout_s: float) -> Embedded:
    """Have one text embedded.

    Raises:
        ModelBusy: nobody answers in time, or not now.
        UnusableAnswer: the model can't embed, or what came back is no vector.
    """
    async with _client(base_url, api_key, timeout_s) as client:
        started = time.monotonic()
        said = await client.embeddings.create(model=model, input=[text], encoding_format="float")
        ms = round((time.monotonic() - started) * 1000)
    if not said.data or not said.data[0].embedding:
        raise UnusableAnswer("malformed", "the answer holds no vector")
    return Embedded(len(said.data[0].embedding), ms)


@asynccontextmanager
async def _client(base_url: str, api_key: str | None, timeout_s: float) -> AsyncIterator[AsyncOpenAI]:
    import openai  # a second of start-up, that nobody without a model should pay

    client = openai.AsyncOpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout_s, max_retries=0)
    try:
        yield client
    except openai.APIConnectionError as error:  # a timeout too
        raise ModelBusy(f"{base_url} does not answer ({error.__cause__ or error}): is the server started?") from error
    except openai.APIStatusError as error:
        if error.status_code >= 500 or error.status_code == 429:
            raise ModelBusy(f"{base_url} answers {error.status_code}") from error
        raise UnusableAnswer("refused", f"{base_url} answers {error.status_code}: {error.message[:200]}") from error
    except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:  # JSON of something else, or none
        raise UnusableAnswer("malformed", f"{base_url} does not speak OpenAI's protocol") from error
    finally:
        await client.close()
