"""Delivers the outboxes of the agents on this machine: `python -m nextlevel.producers.relay`, one a machine.

It does what the plugin does after each turn, but also when no turn follows: sends what waits, applies receipts, sends
again what stays unacknowledged, lets retention run, and looks once an hour for turns that no hook brought. It reads
each outbox by SQLite's change counter, so an idle one costs next to nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from redis.asyncio import Redis
from redis.exceptions import RedisError

from nextlevel import log as logs
from nextlevel import settings
from nextlevel.errors import Misconfigured, QueueUnreachable, ShortTermUnavailable, UnusableFile
from nextlevel.event import STREAM

from .homes import registered
from .importers.backfill import missed
from .shortterm import receipts, sql
from .shortterm.database import BUSY_S, SCHEMA_VERSION, cure, durability, path_of
from .shortterm.delivery import STREAM_LIMIT, entry
from .shortterm.rescue import Place, opening, place_of
from .shortterm.retention import KEPT_DAYS, KEPT_SESSIONS

log = logs.get("relay")

POLL_S = 0.2
RECEIPTS_EVERY_S = 2.0
HOMES_EVERY_S = 2.0
PRUNE_EVERY_S = 3600.0
MISSED_EVERY_S = 3600.0
LONGEST_WAIT_S = 5.0
_CHUNK = 100

Row = dict[str, Any]


class Outbox:
    """One home's tier 2, as the relay drives it."""

    def __init__(self, home: Path, redis: Redis) -> None:
        self.home, self._redis = home, redis
        self._connection: aiosqlite.Connection | None = None
        self._place: Place | None = None
        self._seen_version = -1
        self._receipts_at = self._prune_at = 0.0
        self._missed_at = 0.0

    async def turn(self) -> int:
        """Look once, and do what is due; tell how many events were sent.

        Raises:
            QueueUnreachable: Redis is away or full; all that was not sent is due again at once.
            ShortTermUnavailable: the file can't be used.
        """
        if not path_of(self.home).exists():
            return 0
        try:
            return await self._turn()
        except (aiosqlite.Error, OSError) as error:
            await self.close()
            raise ShortTermUnavailable(f"{path_of(self.home)}: {cure(error)}") from error

    async def _turn(self) -> int:
        if self._connection is not None and place_of(path_of(self.home)) != self._place:
            await self.close()  # it was damaged, and the agent has begun another
            self._seen_version = -1
        db = await self._open()
        now = time.monotonic()
        version = (await self._rows("PRAGMA data_version"))[0]["data_version"]
        if version == self._seen_version and now < self._receipts_at:
            return 0
        await self._settle(db)  # first of all: a home restored from a backup must not give its numbers a second time
        if now >= self._missed_at:
            self._missed_at = now + MISSED_EVERY_S
            await self._look_for_missed()
        sent = 0
        while claimed := await self._claim(db):
            await self._send(db, claimed)
            sent += len(claimed)
        if now >= self._prune_at:
            await self._prune(db)
            self._prune_at = now + PRUNE_EVERY_S
        self._seen_version, self._receipts_at = version, now + RECEIPTS_EVERY_S
        return sent

    async def _look_for_missed(self) -> None:
        """Turns in the host's own store that no hook brought; a store that can't be read holds up nothing."""
        try:
            found = await missed(self.home)
        except UnusableFile as error:
            log.warning("host_store_unreadable", home=str(self.home), reason=str(error))
            return
        if found.new or found.undone:
            log.info("missed_turns_found", home=str(self.home), turns=found.new, undone=found.undone)

    async def close(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()

    async def _open(self) -> aiosqlite.Connection:
        if self._connection is None:
            path = path_of(self.home)
            with opening(path):
                self._place = place_of(path)
                db = await aiosqlite.connect(path, timeout=BUSY_S, isolation_level=None)
                db.row_factory = aiosqlite.Row
                self._connection = db
                journal = (await self._rows("PRAGMA journal_mode"))[0]["journal_mode"]
            for pragma in durability(journal):
                await db.execute(pragma)
            version = (await self._rows("PRAGMA user_version"))[0]["user_version"]
            if version != SCHEMA_VERSION:
                await self.close()
                raise ShortTermUnavailable(
                    f"{path_of(self.home)} has version {version}, this relay knows {SCHEMA_VERSION}: run `nextlevel "
                    "hermes install` and start the agent anew"
                )
        return self._connection

    async def _settle(self, db: aiosqlite.Connection) -> None:
        """Bring the outbox in line with the receipts in Redis."""
        installs = [row["install"] for row in await self._rows(sql.AWAITED)]
        pipe = self._redis.pipeline(transaction=False)
        pipe.xlen(STREAM)
        for install in installs:
            pipe.get(receipts.KEY + install)
        depth, *raw = await self._redis_says(pipe.execute())
        found = {install: receipts.parse(each) for install, each in zip(installs, raw, strict=True)}
        if any(found.values()):
            async with self._transaction(db):
                for identity in await self._rows(sql.AWAITED):
                    if receipt := found.get(identity["install"]):
                        for statement, parameters in receipts.plan(identity, receipt, home=str(self.home)):
                            await db.execute(statement, parameters)
        if depth > STREAM_LIMIT:
            raise QueueUnreachable(f"{depth} turns wait in Redis; more stay here until ingest has caught up")

    async def _claim(self, db: aiosqlite.Connection) -> list[Row]:
        async with self._transaction(db):
            now = time.time()
            due = await self._rows(sql.DUE, {"now": now, "limit": _CHUNK})
            await db.executemany(sql.MARK_PUBLISHED, [{"row": row["row"], "now": now} for row in due])
        return due

    async def _send(self, db: aiosqlite.Connection, claimed: Sequence[Row]) -> None:
        pipe = self._redis.pipeline(transaction=False)
        for row in claimed:
            stream, fields = entry(row["lane"], row["event"])
            pipe.xadd(stream, dict(fields.items()))
        try:
            await self._redis_says(pipe.execute())
        except QueueUnreachable:
            async with self._transaction(db):
                await db.executemany(sql.RELEASE, [{"row": row["row"]} for row in claimed])
            raise

    async def _prune(self, db: aiosqlite.Connection) -> None:
        bounds = {"before": time.time() - KEPT_DAYS * 86_400, "sessions": KEPT_SESSIONS, "limit": _CHUNK}
        while rows := await self._rows(sql.EXPIRED, bounds):
            async with self._transaction(db):
                for statement in (sql.DELETE_WORDS, sql.DELETE_EVENT, sql.EMPTY_ROW):
                    await db.executemany(statement, rows)

    async def _rows(self, statement: str, parameters: Row | None = None) -> list[Row]:
        db = await self._open()
        return [dict(row) for row in await db.execute_fetchall(statement, parameters or {})]

    @asynccontextmanager
    async def _transaction(self, db: aiosqlite.Connection) -> AsyncIterator[None]:
        await db.execute("BEGIN IMMEDIATE")
        try:
            yield
            await db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                await db.execute("ROLLBACK")
            raise

    async def _redis_says(self, answers: Any) -> list[Any]:
        try:
            return list(await answers)
        except (RedisError, OSError) as error:
            raise QueueUnreachable(f"Redis does not answer: {error}") from error


class Relay:
    """All outboxes of the machine, one after the other; trouble with one file delays no other."""

    def __init__(self, config: settings.Settings) -> None:
        self._settings = config
        self._redis: Redis = Redis.from_url(config.need_redis(), socket_timeout=5.0, socket_connect_timeout=2.0)
        self._outboxes: dict[Path, Outbox] = {}
        self._homes_at = 0.0
        self._troubled: dict[Path, str] = {}

    async def run(self, stopping: asyncio.Event) -> None:
        """Until told to stop. While Redis is away it is asked less and less often, at least every five seconds."""
        wait = POLL_S
        try:
            while not stopping.is_set():
                try:
                    await self.round()
                    wait = POLL_S
                except QueueUnreachable as error:
                    wait = min(LONGEST_WAIT_S, wait * 2)
                    log.warning("queue_unreachable", reason=str(error), retry_in_s=wait)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), wait)
        finally:
            await self.close()

    async def round(self) -> int:
        """Each outbox once; how many events were sent.

        Raises:
            QueueUnreachable: Redis is away or full.
        """
        sent = 0
        for home, outbox in list(self._current().items()):
            try:
                delivered = await outbox.turn()
            except ShortTermUnavailable as error:
                self._tell(home, str(error))
                continue
            self._troubled.pop(home, None)
            if delivered:
                log.info("outbox_drained", home=str(home), events=delivered)
            sent += delivered
        return sent

    async def close(self) -> None:
        for outbox in self._outboxes.values():
            await outbox.close()
        await self._redis.aclose()

    def _current(self) -> dict[Path, Outbox]:
        """The outboxes of the homes that are registered by now: one installed a moment ago needs no restart."""
        if time.monotonic() >= self._homes_at:
            self._homes_at = time.monotonic() + HOMES_EVERY_S
            for home in registered(self._settings):
                self._outboxes.setdefault(home.resolve(), Outbox(home.resolve(), self._redis))
        return self._outboxes

    def _tell(self, home: Path, reason: str) -> None:
        if self._troubled.get(home) != reason:  # once, not five times a second
            self._troubled[home] = reason
            log.error("outbox_unusable", home=str(home), reason=reason)


async def run(config: settings.Settings) -> None:
    """Deliver until SIGTERM or SIGINT."""
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    log.info("relay_started", pid=os.getpid())
    await Relay(config).run(stopping)
    log.info("relay_stopped")


def main() -> int:
    """Run the process; exit code 2 where it is set up wrongly."""
    try:
        config = settings.load()
        logs.setup(config.log_level)
        asyncio.run(run(config))
    except Misconfigured as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
