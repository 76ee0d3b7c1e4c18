"""One way to reach Redis from the reading side, where nobody may wait long; and where its errors become ours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis.asyncio as redis
from redis.exceptions import ConnectionError, OutOfMemoryError, RedisError, TimeoutError

from nextlevel.errors import QueueUnreachable

_CONNECT_S = _ANSWER_S = 0.05  # a prefetch has 80 ms in all, and Postgres still has to be asked when Redis hangs
_REST_S = 1.0
_NOT_READY = ("LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "MISCONF", "TRYAGAIN")


def connect(url: str) -> redis.Redis:
    """A client that gives up after 50 ms. Nothing is sent yet. Close with `aclose`."""
    client: redis.Redis = redis.Redis.from_url(url, socket_connect_timeout=_CONNECT_S, socket_timeout=_ANSWER_S)
    return client


class Line:
    """Whether Redis answers. After a failure nobody asks for a second: a hung Redis costs one caller 50 ms, not all."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn "Redis is away, loading or full" into QueueUnreachable; anything else is a bug and stays itself."""
        if time.monotonic() < self._rests_until:
            raise QueueUnreachable("Redis did not answer a moment ago")
        try:
            yield
        except OutOfMemoryError as error:
            raise QueueUnreachable(f"Redis is full: {error}") from error
        except (ConnectionError, TimeoutError, OSError) as error:
            self._rest()
            raise QueueUnreachable(f"Redis does not answer: {error}") from error
        except RedisError as error:
            if not str(error).startswith(_NOT_READY):
                raise
            self._rest()
            raise QueueUnreachable(f"Redis is not ready: {error}") from error

    def _rest(self) -> None:
        self._rests_until = time.monotonic() + _REST_S
