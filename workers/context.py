"""What a job may use: one typed object, no loose dictionary."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import redis.asyncio as redis

from nextlevel.embedding import Embedding
from nextlevel.inference import LLM, Embedder
from nextlevel.queue.stages import StageQueue
from nextlevel.settings import Settings
from nextlevel.store.pool import Database

from .steps.link import AliasCache


@dataclass(slots=True)
class WorkerContext:
    """The stores, the queue and the model of one worker process."""

    settings: Settings
    db: Database
    redis: redis.Redis
    queue: StageQueue
    embedder: Embedder | None  # None: it can't be had, or is not needed here; a block without a vector waits for one
    llm: LLM | None = None  # None: there is none; the rules find what they find
    cheaper_llm: LLM | None = None  # asked when a tenant's day is nearly spent
    judge: LLM | None = None  # compares facts on which the rules can't decide; None: the rules decide alone
    embedding: Embedding | None = None  # which embedder is in use; None: none is needed here
    aliases: AliasCache = field(default_factory=AliasCache)
    ready: asyncio.Event = field(default_factory=asyncio.Event)  # set: something may have become ready to run

    async def take_up(self, embedder: Embedder | None) -> None:
        """Embed by another model from now on. Whoever embeds reads `embedder` once, so that name and vectors agree."""
        self.embedder = embedder
