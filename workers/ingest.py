"""Stream → table turns, in batches. An entry is acknowledged only after Postgres has committed what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nextlevel import log, receipts
from nextlevel.errors import MalformedEvent, QueueUnreachable, Transient, UnknownInstallation
from nextlevel.event import Event, decode, packed, peek_id, unpacked
from nextlevel.model import Scope
from nextlevel.queue import streams
from nextlevel.queue.streams import Entry
from nextlevel.safety.harmless import harmless
from nextlevel.safety.redact import redact
from nextlevel.store import scopes, trace, turns
from nextlevel.store.pool import Connection
from nextlevel.store.status import add_dead_letter

from .context import WorkerContext

BATCH = 100
_BLOCK_MS = 1_000
_TAKE_OVER_EVERY_S = 20.0
_LONGEST_PAUSE_S = 5.0

_log = log.get("ingest")


@dataclass(slots=True)
class Ingest:
    """One reader of the streams. `consumer` is its name in the group."""

    ctx: WorkerContext
    consumer: str
    interrupted: bool = False
    next_take_over: float = 0.0

    async def run(self) -> None:
        """Read until cancelled; then leave the group, if nothing is left half done."""
        pause = 0.1
        try:
            while True:
                try:
                    await self.take_in(await self._next())
                    pause = 0.1
                except Transient as error:
                    # What was read stays pending under our name: it is read again before anything new.
                    self.interrupted, self.next_take_over = True, 0.0
                    _log.warning("ingest_waits", pause_s=pause, error=str(error))
                    await asyncio.sleep(pause)
                    pause = min(_LONGEST_PAUSE_S, pause * 2)
        finally:
            await self._leave()

    async def _next(self) -> list[Entry]:
        redis, now = self.ctx.redis, asyncio.get_running_loop().time()
        if self.interrupted:
            entries = await streams.read_again(redis, self.consumer, count=BATCH)
            self.interrupted = bool(entries)
            if entries:
                return entries
        if now >= self.next_take_over:
            await streams.ensure_group(redis)
            self.next_take_over = now + _TAKE_OVER_EVERY_S
            entries = await streams.take_over(redis, self.consumer, count=BATCH)
            if entries:
                return entries
        return await streams.read(redis, self.consumer, count=BATCH, block_ms=_BLOCK_MS)

    async def take_in(self, entries: Sequence[Entry]) -> None:
        """Write a batch to Postgres, acknowledge it, and say so to the outboxes.

        Raises:
            Transient: a store is away; nothing was acknowledged that was not committed.
        """
        if not entries:
            return
        installs = await self._commit(entries)
        await streams.done(self.ctx.redis, entries)
        self.ctx.ready.set()
        await receipts.publish(self.ctx.db, self.ctx.redis, installs)

    async def _commit(self, entries: Sequence[Entry]) -> set[str]:
        try:
            async with self.ctx.db.pipeline() as conn:
                return await self._file_all(conn, entries)
        except Transient:
            raise
        except Exception:
            if len(entries) == 1:
                raise
            _log.exception("batch_refused", entries=len(entries))
        installs: set[str] = set()
        for entry in entries:  # one by one, so that one entry that can't be filed holds up no other
            installs |= await self._commit_alone(entry)
        return installs

    async def _commit_alone(self, entry: Entry) -> set[str]:
        try:
            async with self.ctx.db.pipeline() as conn:
                return await self._file_all(conn, [entry])
        except Transient:
            raise
        except Exception as error:
            _log.exception("entry_refused", entry=entry.id.decode())
            async with self.ctx.db.pipeline() as conn:
                await _quarantine(conn, entry, "refused", f"{type(error).__name__}: {error}", None)
            return set()

    async def _file_all(self, conn: Connection, entries: Iterable[Entry]) -> set[str]:
        owners = _Owners(conn, accept_unenrolled=bool(self.ctx.settings.accept_unenrolled))
        installs: set[str] = set()
        for entry in entries:
            installs |= await _file(conn, owners, entry)
        # In order, so that two readers with turns of the same outboxes can't deadlock.
        for install in sorted(installs):
            await turns.receipt(conn, install, advance=True)
        return installs

    async def _leave(self) -> None:
        try:
            await asyncio.shield(streams.leave(self.ctx.redis, self.consumer))
        except QueueUnreachable as error:
            _log.debug("left_without_goodbye", error=str(error))


@dataclass(slots=True)
class _Owners:
    """Who owns what in this batch: each installation, profile and principal is looked up once."""

    conn: Connection
    accept_unenrolled: bool
    known: dict[tuple[str, str, str], Scope] = field(default_factory=dict)

    async def of(self, install: str, profile: str, principal: str) -> Scope:
        key = (install, profile, principal)
        if key not in self.known:
            self.known[key] = await scopes.resolve(
                self.conn, install, profile=profile, principal=principal, accept_unenrolled=self.accept_unenrolled
            )
        return self.known[key]


async def _file(conn: Connection, owners: _Owners, entry: Entry) -> set[str]:
    """One entry becomes a turn, or is quarantined: visible either way. Returns the outboxes it concerns."""
    try:
        if entry.deliveries >= streams.LAST_DELIVERY:
            raise MalformedEvent("undeliverable", f"delivered {entry.deliveries} times and never finished")
        event, redacted = harmless(decode(entry.fields))
        scope = await owners.of(event.install, event.profile, event.principal)
    except (MalformedEvent, UnknownInstallation) as error:
        return await _refuse(conn, owners, entry, error)
    filed, how = await turns.receive(conn, event, scope)
    if how != "duplicate":
        facts = {"how": how, "kind": event.kind, **_sizes(event)} | ({"redacted": redacted} if redacted else {})
        await trace.add(conn, scope.tenant_id, filed, "ingest", **facts)
    return {event.install}


async def _refuse(
    conn: Connection, owners: _Owners, entry: Entry, error: MalformedEvent | UnknownInstallation
) -> set[str]:
    code = error.code if isinstance(error, MalformedEvent) else "unknown_installation"
    turn_id = peek_id(entry.fields)
    scope = None
    if turn_id is not None and isinstance(error, MalformedEvent):
        install = turn_id.rsplit(":", 1)[0]
        try:
            scope = await owners.of(install, "default", scopes.LOCAL)
            await turns.quarantine(conn, scope, turn_id, str(error))
        except UnknownInstallation:
            scope = None
    await _quarantine(conn, entry, code, str(error), scope)
    _log.warning("event_quarantined", code=code, turn_id=turn_id, entry=entry.id.decode())
    return {turn_id.rsplit(":", 1)[0]} if scope is not None and turn_id is not None else set()


async def _quarantine(conn: Connection, entry: Entry, code: str, reason: str, scope: Scope | None) -> None:
    await add_dead_letter(
        conn,
        "quarantined",
        tenant_id=scope.tenant_id if scope else None,
        turn_id=peek_id(entry.fields),
        entry_id=f"{entry.stream}/{entry.id.decode()}",
        code=code,
        reason=reason,
        raw=_as_it_came(entry),
    )


def _as_it_came(entry: Entry) -> bytes:
    """The entry's own words, so that it can be told again; what is broken may hold secrets like any other text."""
    raw = unpacked(entry.fields)
    if raw is None:
        return repr(dict(entry.fields)).encode()
    harmless_text = redact(raw.decode("utf-8", "surrogateescape")).text
    return next(iter(packed(harmless_text.encode("utf-8", "surrogateescape")).values()))


def _sizes(event: Event) -> dict[str, int]:
    return {
        "user_chars": len(event.user_text),
        "assistant_chars": len(event.assistant_text),
        "tools": len(event.tools),
        "tool_chars_cut": sum(tool.cut for tool in event.tools),
    }
