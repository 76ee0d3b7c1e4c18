"""What the endpoints share. Opening needs nobody: a process starts while stores are down, and answers 503 till then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis

from nextlevel import redis_client
from nextlevel.auth import secret_of
from nextlevel.cache import Cache
from nextlevel.embedding import Embedding
from nextlevel.errors import NextLevelError
from nextlevel.inference import Embedder
from nextlevel.recall import Recall
from nextlevel.settings import Settings
from nextlevel.store.pool import Database

from .journal import Journal

_FIRST_LOOK_S = 2.0  # so that the first question has its vector, where nothing is amiss


@dataclass(frozen=True, slots=True)
class Services:
    """The stores and the models of one serving process."""

    settings: Settings
    secret: bytes
    db: Database
    redis: Redis
    cache: Cache
    embedding: Embedding
    recall: Recall
    journal: Journal

    @property
    def embedder(self) -> Embedder | None:
        """The one in use; None: words and graph answer alone, and `embedding.note` says why."""
        return self.embedding.current


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Everything an app needs, closed again at the end.

    Raises:
        Misconfigured: no address of a store is known, or the secret can't be read.
    """
    secret = secret_of(settings)
    redis_url = settings.need_redis()
    db = await Database.connect(settings.need_postgres(), min_size=0)
    redis = redis_client.connect(redis_url)
    cache = Cache(redis_url)
    embedding = Embedding(settings, db)
    recall = Recall(settings, db, cache, None)
    journal = Journal(db, recall.scopes)
    with suppress(NextLevelError, TimeoutError):  # what follows tells of it, and looks again
        async with asyncio.timeout(_FIRST_LOOK_S):
            await embedding.look()
            await recall.take_up(embedding.current)
    following = asyncio.create_task(embedding.follow(recall.take_up))
    try:
        yield Services(settings, secret, db, redis, cache, embedding, recall, journal)
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await journal.close()
        await recall.close()
        await cache.close()
        await redis.aclose()
        await embedding.close()
        await db.close()


# async, as every dependency here: FastAPI runs a plain function in a thread, and eight such hops cost a hit 1 ms.
async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


ServicesOf = Annotated[Services, Depends(_services)]
