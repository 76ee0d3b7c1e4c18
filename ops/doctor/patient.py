"""What the checks may use: the settings, and the stores behind two doors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis

from nextlevel import redis_client
from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client
from nextlevel.settings import Settings
from nextlevel.store.pool import Connection, Database

_ANSWER_S = 5.0


@dataclass(frozen=True, slots=True)
class Patient:
    """One nextlevel, as the settings of this process describe it."""

    settings: Settings

    @property
    def service(self) -> Client:
        """As the operator; without a token where there is no secret yet, since looking makes nothing."""
        ours = self.settings
        known = ours.secret is not None or (ours.data_dir / "secret").exists()
        return Client(ours.need_service(), token(secret_of(ours), OPERATOR) if known else None, timeout_s=_ANSWER_S)

    @asynccontextmanager
    async def redis(self) -> AsyncIterator[Redis]:
        client = redis_client.connect(self.settings.need_redis())
        try:
            yield client
        finally:
            await client.aclose()

    @asynccontextmanager
    async def pipeline(self) -> AsyncIterator[Connection]:
        """Table turns, over all tenants; no memory."""
        db = await Database.connect(self.settings.need_postgres(), max_size=1)
        try:
            async with db.pipeline() as conn:
                yield conn
        finally:
            await db.close()
