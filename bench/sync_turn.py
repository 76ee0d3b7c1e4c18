"""How long does the plugin hold up the host when a turn ends?

The real provider's `sync_turn` (redaction, FTS, outbox, delivery) on a real SQLite file, with Redis there and with
Redis down, beside its floor: a bare insert of the same bytes with one fsync. The three take turns in random order, so
that noise of the disk hits all. Receipts are written between turns, as ingest would.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nextlevel.event import STREAM
from nextlevel.ops.up import place, valkey
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.provider import Provider
from nextlevel.producers.shortterm import outbox
from nextlevel.producers.shortterm.database import durability, journal
from nextlevel.settings import load
from nextlevel.wire.resp import Redis

from . import ground
from .common import TIMES, Report, Times, arguments, run, table
from .talk import Said, Talk

SIZES = {"4 kB": 4_096, "1 MiB": 1_048_576}
TURNS = {"4 kB": 600, "1 MiB": 120}
WARM_UP = 5
SESSION_TURNS = 10
SLOWEST_OVER_FLOOR_MS, SLOWEST_LARGE_MS = 10.0, 250.0
ANSWER_WITHIN_S = 1.0
SYNCHRONOUS_FULL = 2


@dataclass
class Floor:
    """The least that keeping a turn costs: its bytes in one row, in one transaction, with one fsync."""

    path: Path
    times: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._connection = sqlite3.connect(self.path, isolation_level=None)
        for pragma in durability(journal(self._connection)):
            self._connection.execute(pragma)
        self._connection.execute("CREATE TABLE turns (id INTEGER PRIMARY KEY, event TEXT NOT NULL)")

    def keep(self, said: Said) -> float:
        text = json.dumps([said.user, said.assistant, said.tools], ensure_ascii=False)
        since = time.perf_counter()
        self._connection.execute("INSERT INTO turns (event) VALUES (?)", (text,))
        return 1000 * (time.perf_counter() - since)


class Subject:
    """The provider in one home. `redis` is where its receipts are written; None where it can't be reached."""

    def __init__(self, path: Path, redis: Redis | None) -> None:
        self.path = path
        self.home = homes.of(path)
        self._redis = redis
        self._provider = Provider()
        self._rows: list[dict[str, Any]] = []
        self._told = 0

    def keep(self, said: Said) -> float:
        if self._told % SESSION_TURNS == 0:
            self._rows = []
            self._provider.initialize(f"session-{self._told}", hermes_home=str(self.path), platform="cli")
        self._told += 1
        self._rows += _messages(said)
        since = time.perf_counter()
        self._provider.sync_turn(said.user, said.assistant, messages=self._rows)
        took_ms = 1000 * (time.perf_counter() - since)
        self._acknowledge()
        return took_ms

    def _acknowledge(self) -> None:
        """What ingest does meanwhile: it takes the entries off the stream, and says how far it has come."""
        if self._redis is not None:
            receipt = json.dumps({"mark": self._told, "high": self._told, "gaps": []})
            self._redis.call("SET", f"nl:ack:{self.home.config.install}", receipt, timeout_s=ANSWER_WITHIN_S)
            self._redis.call("XTRIM", STREAM, "MAXLEN", 0, timeout_s=ANSWER_WITHIN_S)

    def check(self) -> dict[str, int]:
        """Every turn must be on the disk: a hook that failed is fast."""
        kept = outbox.counts(self.home.database)["events"]
        failed = self.home.counters["sync_turn_failed"]
        if kept != self._told or failed:
            raise AssertionError(f"{self._told} turns were told, {kept} are kept, {failed} failed")
        return {"told": self._told, "kept": kept}

    def commits(self, said: Said) -> int:
        """How many transactions one turn takes that change something and wait for the disk."""
        waits = 0
        with self.home.database.reading() as connection:
            before = connection.total_changes
            full = connection.execute("PRAGMA synchronous").fetchone()[0] >= SYNCHRONOUS_FULL  # as it was left

            def traced(statement: str) -> None:
                nonlocal before, full, waits
                if statement.startswith("PRAGMA synchronous"):
                    full = statement.endswith("FULL")
                elif statement.startswith("COMMIT") and connection.total_changes > before:
                    waits += full
                    before = connection.total_changes

            connection.set_trace_callback(traced)
        self.keep(said)
        with self.home.database.reading() as connection:
            connection.set_trace_callback(None)
        return waits


def _messages(said: Said) -> list[dict[str, Any]]:
    """The turn as the host hands it over."""
    rows: list[dict[str, Any]] = [{"role": "user", "content": said.user}]
    for number, (name, command, result) in enumerate(said.tools):
        function = {"name": name, "arguments": json.dumps({"command": command})}
        rows.append(
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"call_{number}", "function": function}]}
        )
        rows.append({"role": "tool", "tool_call_id": f"call_{number}", "content": result})
    return [*rows, {"role": "assistant", "content": said.assistant}]


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    logging.disable(logging.WARNING)  # that Redis is down is what we asked for
    figures: dict[str, Any] = {}
    with ground.directory() as root:
        data = place.prepare(root / "data")
        settings = load(data_dir=data)
        server = valkey.start(data)
        try:
            for label, size in SIZES.items():
                folder = root / label.replace(" ", "")
                folder.mkdir()
                up = ground.home(folder, f"up{size}", settings=settings, redis_url=server.url)
                down = ground.home(folder, f"down{size}", settings=settings, redis_url=f"unix://{root}/nobody.sock")
                subjects = {"Redis up": Subject(up, Redis(server.url)), "Redis down": Subject(down, None)}
                turns = min(TURNS[label], 8 if options.quick else TURNS[label])
                talk = Talk(options.seed + size)
                figures[label] = _measure(label, size, turns, talk, Floor(folder / "floor.db"), subjects, report)
        finally:
            server.stop()
    return figures


def _measure(
    label: str, size: int, turns: int, talk: Talk, floor: Floor, subjects: dict[str, Subject], report: Report
) -> dict[str, Any]:
    report.say(f"{label}: {turns} turns each")
    contenders: dict[str, Callable[[Said], float]] = {"bare insert": floor.keep}
    contenders |= {name: subject.keep for name, subject in subjects.items()}
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for number in range(WARM_UP + turns):
        said = talk.turn_of(size)
        random.shuffle(order)
        for name in order:
            took_ms = contenders[name](said)
            if number >= WARM_UP:
                taken[name].append(took_ms)
    times = {name: Times(found) for name, found in taken.items()}
    commits = {name: subject.commits(talk.turn_of(size)) for name, subject in subjects.items()}
    for subject in subjects.values():
        subject.check()
    return _told(label, times, commits, report)


def _told(label: str, times: dict[str, Times], commits: dict[str, int], report: Report) -> dict[str, Any]:
    bare = times["bare insert"]
    table(
        f"sync_turn, {label} a turn, ms",
        ("", *TIMES, "p50 ratio", "p99 ratio", "p99 − floor", "fsyncs"),
        (
            [name, *found.row(), f"{found.p50 / bare.p50:.1f}", f"{found.p99 / bare.p99:.1f}",
             f"{found.p99 - bare.p99:.2f}", str(commits.get(name, 1))]
            for name, found in times.items()
        ),
    )  # fmt: skip
    for name in commits:
        found = times[name]
        if label == "4 kB":
            report.goal(f"{label}, {name}: p99, at most the bare insert's and 10 ms",
                        found.p99, most=bare.p99 + SLOWEST_OVER_FLOOR_MS)  # fmt: skip
        else:
            report.goal(f"{label}, {name}: p99 in ms", found.p99, most=SLOWEST_LARGE_MS)
        report.stretch(f"{label}, {name}: transactions that wait for the disk", commits[name], most=1)
    return {
        name: {
            **found.figures(),
            "p50_ratio": round(found.p50 / bare.p50, 2),
            "p99_ratio": round(found.p99 / bare.p99, 2),
            "p99_over_floor_ms": round(found.p99 - bare.p99, 3),
            "commits": commits.get(name, 1),
        }
        for name, found in times.items()
    }


if __name__ == "__main__":
    sys.exit(run("sync_turn", bench, arguments(__doc__)))
