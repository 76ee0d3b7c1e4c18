"""Answers kept under the state of memory they were read from, and the generations that say which state holds now."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

import orjson

from nextlevel.errors import QueueUnreachable, StoreUnreachable
from nextlevel.log import get

from . import keys
from .connection import Line, connect
from .generations import Generations, publish_generations

TRUST_S = 5.0
"""How long a copy of a generation is believed before Postgres is asked again: a crash between a commit and its
publication, or a Redis that lost its last second, is mended within this time."""

KEEP_CONTEXT_S = 600
KEEP_WARM_S = 24 * 3600
_MOST_REMEMBERED = 100_000

# Not `INFO` itself: its sixty lines would be parsed for each question.
_COPIES = """
return {string.match(redis.call('INFO', 'server'), 'run_id:(%x+)'), redis.call('MGET', unpack(KEYS))}
"""

ReadTruth = Callable[[], Awaitable[dict[UUID, int]]]

log = get("cache")
T = TypeVar("T")


class Cache:
    """The reading side's Redis. None of its methods fails because Redis is away: it answers as if nothing was kept.

    `url` None runs without Redis. Close with `close`.
    """

    def __init__(self, url: str | None) -> None:
        self._client = None if url is None else connect(url)
        self._line = Line()
        self._trusted: dict[tuple[str, UUID], float] = {}
        self._looked: dict[tuple[UUID, ...], Generations] = {}
        self._checks: dict[frozenset[UUID], asyncio.Task[Generations]] = {}
        self._flights: dict[str, asyncio.Task[Any]] = {}

    async def close(self) -> None:
        for task in (*self._flights.values(), *self._checks.values()):
            task.cancel()
        if self._client is not None:
            await self._client.aclose()

    async def ping(self) -> None:
        """Ask Redis for a sign of life.

        Raises:
            QueueUnreachable: it gives none, or the process runs without.
        """
        if self._client is None:
            raise QueueUnreachable("no Redis is configured")
        with self._line.translated():
            await self._client.ping()

    async def look(
        self, scopes: Sequence[UUID], read_truth: ReadTruth, key_of: Callable[[Generations], str]
    ) -> tuple[Generations, bytes | None]:
        """The generations that hold now, and what is kept under the key that they make, if anything.

        One round trip, where nothing has changed since these scopes were looked at last.

        Raises:
            StoreUnreachable: Redis can't tell, and neither can Postgres.
        """
        last = self._looked.get(tuple(scopes))
        state, kept = await self._state(scopes, read_truth, None if last is None else key_of(last))
        if state.run is None or state == last:
            return state, kept
        if len(self._looked) > _MOST_REMEMBERED:
            self._looked.clear()
        self._looked[tuple(scopes)] = state
        return state, await self.get(key_of(state))

    async def generations(self, scopes: Sequence[UUID], read_truth: ReadTruth) -> Generations:
        """The generations that hold now: Redis's copies while they can be believed, else Postgres's own.

        Raises:
            StoreUnreachable: Redis can't tell, and neither can Postgres.
        """
        state, _ = await self._state(scopes, read_truth, None)
        return state

    async def _state(
        self, scopes: Sequence[UUID], read_truth: ReadTruth, key: str | None
    ) -> tuple[Generations, bytes | None]:
        try:
            run, copies, kept = await self._copies(scopes, key)
        except QueueUnreachable:
            return Generations(None, await read_truth()), None
        now = time.monotonic()
        complete = len(copies) == len(scopes)
        checked_at = min(self._trusted.get((run, scope), -TRUST_S) for scope in scopes)
        if complete and now - checked_at < TRUST_S:
            if now - checked_at > TRUST_S / 2:
                self._check_behind(run, copies, read_truth)
            return Generations(run, copies), kept
        try:
            return await self._check(run, copies, read_truth), kept
        except StoreUnreachable:
            if not complete:
                raise
            return Generations(run, copies), kept

    def _check_behind(self, run: str, copies: dict[UUID, int], read_truth: ReadTruth) -> None:
        """Ask Postgres before the trust has ended, so that of those who ask again and again nobody waits for it."""
        scopes = frozenset(copies)
        if scopes not in self._checks:
            self._checks[scopes] = check = asyncio.create_task(self._check(run, copies, read_truth))
            check.add_done_callback(lambda done: self._checked(scopes, done))

    def _checked(self, scopes: frozenset[UUID], check: asyncio.Task[Generations]) -> None:
        del self._checks[scopes]
        if not check.cancelled() and (error := check.exception()) is not None:
            log.info("generations_not_checked", error=str(error))  # who comes after the trust has ended asks again

    async def _check(self, run: str, copies: dict[UUID, int], read_truth: ReadTruth) -> Generations:
        """What Postgres says, told to Redis where that has less."""
        now = time.monotonic()
        truth = await read_truth()
        # A copy may be ahead: a deletion raises it before it commits.
        numbers = {scope: max(truth[scope], copies.get(scope, 0)) for scope in truth}
        if numbers != copies:
            await self.publish(numbers)
        if len(self._trusted) > _MOST_REMEMBERED:
            self._trusted.clear()
        self._trusted |= dict.fromkeys(((run, scope) for scope in numbers), now)
        return Generations(run, numbers)

    async def publish(self, generations: dict[UUID, int]) -> bool:
        """Raise the copies. False: Redis could not be told, and others may trust theirs for `TRUST_S` more."""
        if self._client is None:
            return True
        try:
            await publish_generations(self._client, generations)
        except QueueUnreachable as error:
            log.warning("generations_not_published", scopes=len(generations), error=str(error))
            return False
        return True

    async def get(self, key: str) -> bytes | None:
        """What was kept under a key, if anything."""
        if self._client is None:
            return None
        try:
            with self._line.translated():
                found: bytes | None = await self._client.get(key)
        except QueueUnreachable:
            return None
        return found

    async def put(self, key: str, value: bytes) -> None:
        """Keep a finished answer for ten minutes. Its key says which state of memory it was read from."""
        await self._set(key, value, KEEP_CONTEXT_S)

    async def put_warm(self, key: str, context: str, generations: dict[UUID, int]) -> None:
        """Keep a session's next context for its plugin, for when nobody can be asked."""
        document = {"context": context, "generations": {str(scope): number for scope, number in generations.items()}}
        await self._set(key, orjson.dumps(document), KEEP_WARM_S)

    async def once(self, flight: str, work: Callable[[], Awaitable[T]]) -> T:
        """Let one caller do the work and all who ask for the same meanwhile share its outcome, errors included."""
        task = self._flights.get(flight)
        if task is None:
            task = asyncio.ensure_future(_run(work))
            self._flights[flight] = task
            task.add_done_callback(lambda done: self._landed(flight, done))
        # A caller that gives up must not take the others' answer away.
        answer: T = await asyncio.shield(task)
        return answer

    def _landed(self, flight: str, task: asyncio.Task[Any]) -> None:
        del self._flights[flight]
        if not task.cancelled():
            task.exception()  # seen here, since all who asked may have given up

    async def _copies(self, scopes: Sequence[UUID], key: str | None) -> tuple[str, dict[UUID, int], bytes | None]:
        """Redis's run, the copies it has, and what it keeps under a key, in one round trip."""
        if self._client is None:
            raise QueueUnreachable("no Redis is configured")
        names = [keys.generation(scope) for scope in scopes]
        with self._line.translated():
            async with self._client.pipeline(transaction=False) as pipe:
                pipe.eval(_COPIES, len(names), *names)
                if key is not None:
                    pipe.get(key)
                (run, values), *kept = await pipe.execute()
        copies = {scope: int(value) for scope, value in zip(scopes, values, strict=True) if value is not None}
        return run.decode(), copies, kept[0] if kept else None

    async def _set(self, key: str, value: bytes, keep_s: int) -> None:
        if self._client is None:
            return
        try:
            with self._line.translated():
                await self._client.set(key, value, ex=keep_s)
        except QueueUnreachable as error:
            log.info("not_cached", error=str(error))


async def _run(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
