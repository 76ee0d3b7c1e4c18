"""From the outbox to the stream, and the receipts back. What is not acknowledged in time goes out again."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nextlevel.errors import QueueUnreachable
from nextlevel.event import BULK_STREAM, STREAM
from nextlevel.wire.resp import Redis

from . import receipts, sql
from .database import Database
from .identity import adopt, forked
from .kept import Kept, entry_fields

STREAM_LIMIT = 50_000
"""Above so many entries ingest is far behind; turns then wait here, where they are safe, and not in Redis's memory."""

_CHUNK = 20


@dataclass(frozen=True, slots=True)
class Drained:
    """What one drain did: events sent, and how many still wait for a receipt or to be sent."""

    sent: int
    waiting: int


def entry(lane: str, event: Kept) -> tuple[str, dict[str, bytes]]:
    """The stream and the fields for one event of the outbox."""
    return (STREAM if lane == "live" else BULK_STREAM), entry_fields(event)


def drain(database: Database, redis: Redis, *, rows: int = 100, budget_s: float = 0.05) -> Drained:
    """Apply receipts, then send what is due: at most `rows` events and about `budget_s` seconds.

    Raises:
        QueueUnreachable: Redis is away or full; the events stay here, due at once.
        ShortTermUnavailable: tier 2 can't be read or written.
    """
    ends = time.monotonic() + budget_s
    settle(database, redis, timeout_s=budget_s)
    sent = 0
    while sent < rows:
        left = ends - time.monotonic()
        claimed = claim(database, min(_CHUNK, rows - sent)) if left > 0 else []
        if not claimed:
            break
        _send(database, redis, claimed, timeout_s=left)
        sent += len(claimed)
    with database.reading() as connection:
        return Drained(sent, int(connection.execute(sql.WAITING).fetchone()[0]))


def settle(database: Database, redis: Redis, *, timeout_s: float) -> None:
    """Read the receipts and bring the outbox in line with them.

    Raises:
        QueueUnreachable: Redis is away, or holds so many turns that no more should be sent.
        ShortTermUnavailable: tier 2 can't be read or written.
    """
    with database.reading() as connection:
        installs = [str(row["install"]) for row in connection.execute(sql.AWAITED)] or [database.base]
    asked: list[list[str]] = [["GET", receipts.KEY + install] for install in installs]
    depth, *raw = redis.pipeline([["XLEN", STREAM], *asked], timeout_s=timeout_s)
    found = {install: receipts.parse(each) for install, each in zip(installs, raw, strict=True)}
    if any(found.values()):
        with database.transaction(lasting=False) as connection:
            identities = connection.execute(sql.AWAITED).fetchall()
            if not identities:
                # Nothing was ever written here, and yet Postgres has heard of this id: tier 2 was lost or left behind.
                adopt(connection, forked(database.base), home=str(database.home))
            for identity in identities:
                if receipt := found.get(identity["install"]):
                    for statement, parameters in receipts.plan(identity, receipt, home=str(database.home)):
                        connection.execute(statement, parameters)
    if int(depth) > STREAM_LIMIT:
        raise QueueUnreachable(f"{depth} turns wait in Redis; more are kept here until ingest has caught up")


def claim(database: Database, limit: int) -> Sequence[Mapping[str, Any]]:
    """Take what is due, oldest first, and note that it is being sent: another drainer leaves it alone for 30 s."""
    with database.transaction(lasting=False) as connection:
        now = time.time()
        due = connection.execute(sql.DUE, {"now": now, "limit": limit}).fetchall()
        connection.executemany(sql.MARK_PUBLISHED, [{"row": row["row"], "now": now} for row in due])
    return [dict(row) for row in due]


def release(connection: sqlite3.Connection, claimed: Sequence[Mapping[str, Any]]) -> None:
    connection.executemany(sql.RELEASE, [{"row": row["row"]} for row in claimed])


def _send(database: Database, redis: Redis, claimed: Sequence[Mapping[str, Any]], *, timeout_s: float) -> None:
    commands: list[list[bytes | str]] = []
    for row in claimed:
        stream, fields = entry(row["lane"], row["event"])
        commands.append(["XADD", stream, "*", *(part for field in fields.items() for part in field)])
    try:
        redis.pipeline(commands, timeout_s=timeout_s)
    except QueueUnreachable:
        # Some may have arrived; ingest knows a turn that comes twice.
        with database.transaction(lasting=False) as connection:
            release(connection, claimed)
        raise
