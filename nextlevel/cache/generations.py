"""The copies of the scopes' generations in Redis. The truth is table scopes; a copy may lag, and never goes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import redis.asyncio as redis

from . import keys
from .connection import Line

# Two publishers may arrive in either order: the higher one stays.
_RAISE = """
for i, key in ipairs(KEYS) do
  local held = redis.call('GET', key)
  if not held or tonumber(held) < tonumber(ARGV[i]) then redis.call('SET', key, ARGV[i]) end
end
"""


@dataclass(frozen=True, slots=True)
class Generations:
    """The state of memory that an answer must not be older than. `run` is None where Redis could not be asked."""

    run: str | None
    numbers: dict[UUID, int]


async def publish_generations(client: redis.Redis, generations: Mapping[UUID, int]) -> None:
    """Tell Redis, and whoever listens on nl:events, that these scopes have moved on.

    After a commit it makes new memory visible at once; around a deletion it puts what was cached out of reach.

    Raises:
        QueueUnreachable: Redis is away. Readers then find out from Postgres, within `contexts.TRUST_S`.
    """
    if not generations:
        return
    names = [keys.generation(scope) for scope in generations]
    with Line().translated():
        # The stubs know only the answer of the synchronous client.
        answer: Any = client.eval(_RAISE, len(names), *names, *map(str, generations.values()))
        await answer
        hint = {"generations": {str(scope): number for scope, number in generations.items()}}
        await client.publish(keys.EVENTS, orjson.dumps(hint))
