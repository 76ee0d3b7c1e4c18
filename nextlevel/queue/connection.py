"""One way to reach Redis or Valkey, and one place where its errors become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis.asyncio as redis
from redis.exceptions import ConnectionError, OutOfMemoryError, RedisError, TimeoutError

from nextlevel.errors import QueueUnreachable

_CONNECT_S = 2
_ANSWER_S = 5


def connect(url: str) -> redis.Redis:
    """A client with bounded waits: 2 s to connect, 5 s for an answer. Nothing is sent yet. Close with `aclose`."""
    client: redis.Redis = redis.Redis.from_url(
        url, socket_connect_timeout=_CONNECT_S, socket_timeout=_ANSWER_S, health_check_interval=30
    )
    return client


@contextmanager
def translated() -> Iterator[None]:
    """Turn "Redis is away, loading or full" into QueueUnreachable; anything else is a bug and stays itself."""
    try:
        yield
    except (ConnectionError, TimeoutError, OSError) as error:
        raise QueueUnreachable(f"Redis does not answer: {error}") from error
    except OutOfMemoryError as error:
        raise QueueUnreachable(f"Redis is full: {error}") from error
    except RedisError as error:
        if str(error).startswith(("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "TRYAGAIN")):
            raise QueueUnreachable(f"Redis is not ready: {error}") from error
        raise
