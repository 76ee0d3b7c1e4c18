"""The model servers of this machine, by the ports that they listen on unless told otherwise."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from nextlevel.errors import ModelBusy, UnusableAnswer
from nextlevel.inference import servers

KNOWN = (("Ollama", 11434), ("vLLM", 8000), ("llama.cpp", 8080), ("LM Studio", 1234))
ANSWER_WITHIN_S = 3.0

# A server's list does not say what a model is for; its name nearly always does.
_EMBEDS = ("embed", "bge", "gte-", "e5-", "minilm", "arctic")
_NEITHER = ("rerank", "whisper", "tts", "guard")


@dataclass(frozen=True, slots=True)
class Server:
    """One that answered, and the names of its models."""

    name: str
    base_url: str
    models: tuple[str, ...]

    @property
    def chat_models(self) -> tuple[str, ...]:
        return tuple(model for model in self.models if not _of(model, _EMBEDS + _NEITHER))

    @property
    def embedding_models(self) -> tuple[str, ...]:
        return tuple(model for model in self.models if _of(model, _EMBEDS) and not _of(model, _NEITHER))


async def on_this_machine(ports: tuple[tuple[str, int], ...] = KNOWN) -> list[Server]:
    """Whoever answers on the loopback as a model server does, asked all at once; at most 3 s."""
    found = await asyncio.gather(*(_at(name, f"http://127.0.0.1:{port}/v1") for name, port in ports))
    return [server for server in found if server is not None]


async def at(base_url: str, api_key: str | None) -> Server:
    """The server at an address that somebody named, with or without the /v1 that most have.

    Raises:
        ModelBusy: nobody answers there.
        UnusableAnswer: who answers is no model server, or refuses us.
    """
    base_url = base_url.rstrip("/")
    try:
        models = await servers.models(base_url, api_key, timeout_s=ANSWER_WITHIN_S)
    except UnusableAnswer:
        if base_url.endswith("/v1"):
            raise
        return await at(f"{base_url}/v1", api_key)
    return Server("server", base_url, tuple(models))


async def _at(name: str, base_url: str) -> Server | None:
    try:
        found = await at(base_url, None)
    except (ModelBusy, UnusableAnswer):  # nobody there, or somebody else
        return None
    return Server(name, base_url, found.models)


def _of(model: str, marks: tuple[str, ...]) -> bool:
    return any(mark in model.lower() for mark in marks)
