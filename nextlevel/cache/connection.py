"""Redis from the reading side, where nobody may wait long."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import redis.asyncio as redis

from nextlevel import redis_client
from nextlevel.errors import QueueUnreachable

_WAIT_S = 0.05  # a prefetch has 80 ms in all, and Postgres still has to be asked when Redis hangs
_REST_S = 1.0


def connect(url: str) -> redis.Redis:
    """A client that gives up after 50 ms. Nothing is sent yet. Close with `aclose`."""
    return redis_client.connect(url, connect_s=_WAIT_S, answer_s=_WAIT_S)


class Line:
    """Whether Redis answers. After a failure nobody asks for a second: a hung Redis costs one caller 50 ms, not all."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    @contextmanager
    def translated(self) -> Iterator[None]:
        """As `redis_client.translated`; while the line rests, nothing is asked.

        Raises:
            QueueUnreachable: Redis is away, loading or full, or was a moment ago.
        """
        if time.monotonic() < self._rests_until:
            raise QueueUnreachable("Redis did not answer a moment ago")
        try:
            with redis_client.translated():
                yield
        except QueueUnreachable:
            self._rests_until = time.monotonic() + _REST_S
            raise
