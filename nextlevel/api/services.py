"""What the endpoints share. Opening asks nobody: a process starts while stores are down, and answers 503 till then."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from redis.asyncio import Redis

from nextlevel import redis_client
from nextlevel.auth import secret_of
from nextlevel.cache import Cache
from nextlevel.errors import EmbedderUnavailable
from nextlevel.inference import Embedder, open_embedder
from nextlevel.log import get
from nextlevel.recall import Recall
from nextlevel.settings import Settings
from nextlevel.store.pool import Database

from .journal import Journal

log = get("api")


@dataclass(frozen=True, slots=True)
class Services:
    """The stores and the model of one serving process. `embedder` None: it can't be loaded, words and graph answer."""

    settings: Settings
    secret: bytes
    db: Database
    redis: Redis
    cache: Cache
    embedder: Embedder | None
    recall: Recall
    journal: Journal


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
    embedder = _embedder(settings)
    recall = Recall(settings, db, cache, embedder)
    journal = Journal(db, recall.scopes)
    try:
        yield Services(settings, secret, db, redis, cache, embedder, recall, journal)
    finally:
        await journal.close()
        await recall.close()
        await cache.close()
        await redis.aclose()
        if embedder is not None:
            await embedder.close()
        await db.close()


def _embedder(settings: Settings) -> Embedder | None:
    try:
        return open_embedder(settings)
    except EmbedderUnavailable as error:
        log.error("no_embedder", error=str(error))
        return None


# async, as every dependency here: FastAPI runs a plain function in a thread, and eight such hops cost a hit 1 ms.
async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


ServicesOf = Annotated[Services, Depends(_services)]
