"""What the process keeps for one home of the agent: clients, tier 2, ledgers, counters. Providers come and go.

A gateway and an API server make an instance for each message and never end it, so an instance owns nothing.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import Counter
from pathlib import Path

from nextlevel.errors import NextLevelError, QueueUnreachable, ShortTermUnavailable
from nextlevel.producers.shortterm import delivery, outbox, retention
from nextlevel.producers.shortterm.database import Database, of_home, path_of
from nextlevel.producers.shortterm.identity import UNENROLLED
from nextlevel.wire import http, resp

from . import config as configuration
from . import refill
from .config import Config
from .ledger import Ledgers

log = logging.getLogger("nextlevel.hermes")

_HOOK_S = 0.05
_DRAIN_S = 2.0


class Home:
    """One home. Configuration is read anew when its file changes, so that an enrolment needs no restart."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledgers = Ledgers()
        self.counters: Counter[str] = Counter()
        self.left_out: set[str] = set()
        """Sessions that the user asked in this process not to remember."""
        self.builtin_stamps: tuple[tuple[int, int] | None, ...] = ()
        """How the host's memory files looked when they were mirrored last."""
        self._lock = threading.Lock()
        self._config = Config()
        self._config_file = os.fspath(configuration.path_of(path))
        self._database_file = os.fspath(path_of(path))
        self._config_stamp: int | None = None
        self._receipts_read = False
        self._drain: threading.Thread | None = None
        self._drain_wanted = False
        self.last_error = ""
        """What failed last in this process, also where the disk is too full to note it."""

    @property
    def config(self) -> Config:
        try:
            stamp = os.stat(self._config_file).st_mtime_ns  # asked ten times a turn: a Path costs twice as much
        except OSError:
            stamp = 0
        with self._lock:
            if stamp != self._config_stamp:
                try:
                    self._config = configuration.load(self.path)
                except ValueError as error:
                    log.warning("nextlevel: %s", error)
                    # Turns are still kept, under the id in use; who may have them is not known now.
                    self._config = Config(install=self._base_in_use())
                self._config_stamp = stamp
            return self._config

    def _base_in_use(self) -> str:
        if not self.has_database:
            return UNENROLLED
        try:
            return outbox.base_in_use(of_home(self.path, UNENROLLED)) or UNENROLLED
        except ShortTermUnavailable:
            return UNENROLLED

    @property
    def database(self) -> Database:
        config = self.config
        return of_home(self.path, config.install, copied=config.copied(self.path))

    @property
    def has_database(self) -> bool:
        return os.path.exists(self._database_file)

    @property
    def service(self) -> http.JsonClient | None:
        url = self.config.service_url
        return http.shared(url) if url else None

    @property
    def redis(self) -> resp.Redis | None:
        url = self.config.redis_url
        return resp.shared(url) if url else None

    def before_first_write(self) -> None:
        """Once a process: look at the receipts first. They show whether this home was restored from a backup."""
        redis = self.redis
        if self._receipts_read or redis is None:
            return
        self._receipts_read = True
        try:
            delivery.settle(self.database, redis, timeout_s=_HOOK_S)
        except QueueUnreachable as error:
            self.failed("receipts", error)

    def deliver(self) -> None:
        """Send what waits, on a thread of its own: one for each home, and it ends with the backlog or with Redis.

        The host waits for the disk only: packing a large turn and a slow Redis hold up nobody. What a damaged tier 2
        lost is fetched there too.
        """
        if self.redis is None and not self.config.service_url:
            return  # the relay delivers
        with self._lock:
            self._drain_wanted = True  # also seen by one that runs: what it tries may be an address of before
            if self._drain is not None:
                return
            self._drain = threading.Thread(target=self._drain_aside, name="nextlevel-drain", daemon=True)
            self._drain.start()

    def finish(self, within_s: float) -> None:
        """Let what is being sent arrive, for at most so long: if the host ends now, it waits for a later start."""
        drain = self._drain
        if drain is not None:
            drain.join(within_s)

    def _drain_aside(self) -> None:
        try:
            while self._still_wanted():
                self._drain_all()
                self._refill()
        except BaseException:
            with self._lock:
                self._drain = None
            raise

    def _still_wanted(self) -> bool:
        with self._lock:
            wanted, self._drain_wanted = self._drain_wanted, False
            if not wanted:
                self._drain = None
            return wanted

    def _drain_all(self) -> None:
        redis = self.redis
        if redis is None:
            return  # the relay delivers
        try:
            while (drained := delivery.drain(self.database, redis, budget_s=_DRAIN_S)).sent:
                self.counters["sent"] += drained.sent
            retention.prune_when_due(self.database)
        except (QueueUnreachable, ShortTermUnavailable) as error:
            self.failed("delivery", error)

    def _refill(self) -> None:
        """Page by page; what is to be sent meanwhile goes first. A service that is away is asked at the next turn."""
        try:
            while self.has_database and self.config.service_url and not self._drain_wanted:
                if not refill.one_page(self.database, self.config):
                    break
        except (NextLevelError, ValueError) as error:
            self.failed("refill", error)

    def left_behind(self) -> None:
        """In a forked child: a lock may be held, and a drain be run, by a thread that only the parent has."""
        self._lock = threading.Lock()
        self._drain, self._drain_wanted = None, False
        self.ledgers = Ledgers()

    def failed(self, what: str, error: Exception) -> None:
        """One log line and one counter for each failure; the last is kept for `status`, which is another process."""
        self.counters[f"{what}_failed"] += 1
        log.warning("nextlevel: %s failed: %s", what, error)
        told = f"{what}: {error}"
        known, self.last_error = self.last_error, told
        if told == known or not self.has_database:
            return
        try:
            outbox.note(self.database, "last_error", f"{time.strftime('%Y-%m-%d %H:%M:%S')} {told}")
        except ShortTermUnavailable:
            log.warning("nextlevel: nor could it be noted")


_homes: dict[Path, Home] = {}
_lock = threading.Lock()


def of(path: Path) -> Home:
    """The process's one Home for a path."""
    resolved = path.resolve()
    with _lock:
        if resolved not in _homes:
            _homes[resolved] = Home(resolved)
        return _homes[resolved]


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for home in _homes.values():
        home.left_behind()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
