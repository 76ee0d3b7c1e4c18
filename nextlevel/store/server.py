"""What a Postgres says of itself, for whoever operates it: nothing here changes anything."""

from __future__ import annotations

import time
from dataclasses import dataclass

import asyncpg

from .pool import translated

_ANSWER_S = 5


@dataclass(frozen=True, slots=True)
class Server:
    """`pgvector` is None where the extension is not there; `skew_s`: how far its clock is ahead of ours."""

    version: str
    major: int
    pgvector: str | None
    skew_s: float
    took_ms: float


async def server(dsn: str) -> Server:
    """Ask a Postgres, also one without our schema.

    Raises:
        StoreUnreachable: nobody answers.
        Misconfigured: it refuses the login.
    """
    try:
        conn = await asyncpg.connect(dsn, timeout=_ANSWER_S, command_timeout=_ANSWER_S)
        try:
            before = time.time()
            now = await conn.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
            after = time.time()
            version = await conn.fetchval("SHOW server_version")
            pgvector = await conn.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
        finally:
            await conn.close()
    except (OSError, asyncpg.PostgresError) as error:
        raise translated(error) from error
    took_ms = (after - before) * 1000
    return Server(version, int(version.split(".")[0]), pgvector, now - (before + after) / 2, took_ms)
