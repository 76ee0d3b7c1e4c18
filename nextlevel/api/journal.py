"""What this process answered: the last minutes' figures in memory, and table recalls, written behind the answers.

An answer only appends to a list; a task writes the list each second. While Postgres is away what can't be written is
lost, and counted: a journal must not hold memory that recall needs.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from nextlevel.errors import Transient, UnknownInstallation
from nextlevel.log import get
from nextlevel.recall import Answer
from nextlevel.recall import Request as Question
from nextlevel.recall.answer import Rung
from nextlevel.recall.scopes import Scopes
from nextlevel.safety.redact import redact
from nextlevel.store import recalls
from nextlevel.store.pool import Database
from nextlevel.store.recalls import LONGEST_QUERY, Recalled

WINDOW_S = 300.0
_FLUSH_EVERY_S = 1.0
_MOST_WAITING = 5_000
_MOST_TIMES = 50_000

log = get("api")


@dataclass(frozen=True, slots=True)
class Figures:
    """The last five minutes of this process. Times in ms, None where nothing was asked; shares from 0 to 1.

    `hits` is the share of answers that were in the cache; `failed` got no answer in time; `lost` were answered, but
    could not be written down (since the process began).
    """

    answers: int
    p50_ms: float | None
    p99_ms: float | None
    hits: float | None
    abstained: float | None
    failed: int
    lost: int


@dataclass(frozen=True, slots=True)
class _Time:
    at: float
    ms: float
    hit: bool
    abstained: bool


class Journal:
    """Notes answers and writes them down later. Close with `close`."""

    def __init__(self, db: Database, scopes: Scopes) -> None:
        self._db = db
        self._scopes = scopes
        self._times: deque[_Time] = deque(maxlen=_MOST_TIMES)
        self._failures: deque[float] = deque(maxlen=_MOST_TIMES)
        self._waiting: list[tuple[datetime, Question, Answer]] = []
        self._lost = 0
        self._writing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """Write what is left, if that is possible at once."""
        if self._writing is not None:
            self._writing.cancel()
            with suppress(asyncio.CancelledError):
                await self._writing
        with suppress(TimeoutError):
            async with asyncio.timeout(_FLUSH_EVERY_S):
                await self.flush()

    def note(self, question: Question, answer: Answer) -> None:
        """Take an answer down. Costs the caller an append; a question that asked for nothing is no recall."""
        if answer.rung is Rung.IDLE:
            return
        self._times.append(_Time(time.monotonic(), answer.ms, answer.rung is Rung.CACHE, answer.abstained))
        if len(self._waiting) >= _MOST_WAITING:
            self._lost += 1
            return
        self._waiting.append((datetime.now(UTC), question, answer))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    def note_failure(self) -> None:
        """A question that could not be answered in time."""
        self._failures.append(time.monotonic())

    def figures(self) -> Figures:
        since = time.monotonic() - WINDOW_S
        while self._times and self._times[0].at < since:
            self._times.popleft()
        while self._failures and self._failures[0] < since:
            self._failures.popleft()
        times = sorted(each.ms for each in self._times)
        answers = len(times)
        return Figures(
            answers=answers,
            p50_ms=_percentile(times, 50),
            p99_ms=_percentile(times, 99),
            hits=sum(each.hit for each in self._times) / answers if answers else None,
            abstained=sum(each.abstained for each in self._times) / answers if answers else None,
            failed=len(self._failures),
            lost=self._lost,
        )

    async def flush(self) -> None:
        """Write what waits, as one batch."""
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        try:
            rows = []
            for each in batch:
                if (row := await self._row(*each)) is not None:
                    rows.append(row)
                await asyncio.sleep(0)  # to redact a query takes long enough that an answer should not wait for two
            async with self._db.pipeline() as conn:
                await recalls.add(conn, rows)
        except Transient as error:
            self._lost += len(batch)
            log.warning("recalls_lost", recalls=len(batch), error=str(error))
        except Exception:  # a fault of ours, or a schema that was not migrated yet: recall goes on without its journal
            self._lost += len(batch)
            log.exception("recalls_lost", recalls=len(batch))

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(_FLUSH_EVERY_S)
            await self.flush()

    async def _row(self, at: datetime, question: Question, answer: Answer) -> Recalled | None:
        try:
            scope = await self._scopes.get(question.install, question.profile, question.principal)
        except UnknownInstallation:
            return None  # revoked since it was answered
        # Redacted whole, then cut: half a secret would not be known as one.
        query = redact(question.query).text[:LONGEST_QUERY]
        return Recalled(
            tenant_id=scope.tenant_id,
            user_id=scope.user_id,
            session=_storable(question.session or ""),
            at=at,
            query=_storable(query),
            mode=question.mode,
            rung=answer.rung,
            ms=answer.ms,
            abstained=answer.abstained,
            vectors=answer.vectors,
            shown=tuple((item.block.id, round(item.score, 3)) for item in answer.items if item.block is not None),
        )


def _storable(text: str) -> str:
    """Text as Postgres takes it: no NUL, no half of a surrogate pair."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _percentile(ordered: list[float], percent: int) -> float | None:
    """The nearest-rank percentile of ordered values.

    >>> _percentile([1.0, 2.0, 3.0, 4.0], 50)
    2.0
    """
    if not ordered:
        return None
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]
