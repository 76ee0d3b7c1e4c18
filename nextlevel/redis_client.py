"""One way to reach Redis or Valkey, and the one place where its errors become ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis.asyncio as redis
from redis.exceptions import ConnectionError, OutOfMemoryError, RedisError, TimeoutError

from nextlevel.errors import QueueUnreachable

_NOT_READY = ("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "TRYAGAIN")


def connect(url: str, *, connect_s: float = 2, answer_s: float = 5) -> redis.Redis:
    """A client with bounded waits. Nothing is sent yet. Close with `aclose`."""
    client: redis.Redis = redis.Redis.from_url(
        url, socket_connect_timeout=connect_s, socket_timeout=answer_s, health_check_interval=30
    )
    return client


@contextmanager
def translated() -> Iterator[None]:
    """Turn "Redis is away, loading or full" into QueueUnreachable; anything else is a bug and stays itself."""
    try:
        yield
    except OutOfMemoryError as error:
        raise QueueUnreachable(f"Redis is full: {error}") from error
    except (ConnectionError, TimeoutError, OSError) as error:
        raise QueueUnreachable(f"Redis does not answer: {error}") from error
    except RedisError as error:
        if not str(error).startswith(_NOT_READY):
            raise
        raise QueueUnreachable(f"Redis is not ready: {error}") from error
