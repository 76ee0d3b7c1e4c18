"""Tables of what was asked, and the goals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..agents import Asked
from ..common import TIMES, Report, Times, table
from .effort import CLIENTS

JUDGED = 10_000
"""Blocks in the scope that the goals are about; the largest that is not above it is taken."""

SLOWEST_MS = 100.0


def figures(asked: Sequence[Asked]) -> dict[str, Any]:
    return {
        **Times([each.ms for each in asked]).figures(),
        "service_p50_ms": round(Times([each.service_ms for each in asked if each.service]).p50, 3),
        **_shares(asked),
        "rungs": dict(Counter(each.service or each.rung for each in asked)),
    }


def show(title: str, others: Mapping[str, Times], series: Mapping[str, Sequence[Asked]]) -> None:
    """A table of what others took (the floor of a Redis GET, where it is among them, divides all), and of ours."""
    times = {**others, **{name: Times([each.ms for each in asked]) for name, asked in series.items()}}
    get = times.get("floor: Redis GET")
    rows = []
    for name, found in times.items():
        shares = (f"{100 * share:.1f} %" for share in _shares(series[name]).values()) if name in series else ("", "")
        rows.append([name, *found.row(), *shares, f"{found.p50 / get.p50:.1f}" if get else ""])
    table(f"{title}, ms", ("", *TIMES, "by the service", "with vectors", "p50 ÷ GET"), rows)


def judge(figures: Mapping[str, Any], sizes: Sequence[int], judged: int, report: Report) -> None:
    """The goals: those of speed at one size, those of the deadline also above it."""
    found = figures[f"{judged} blocks"]
    calm, hit, miss = found["MISS, 5/s by chance"], found["HIT, 1 client"], found["MISS, 1 client"]
    # A ladder that gives up in time is fast as well.
    report.goal(f"{judged} blocks, 1 client: HITs by the service", hit["by_service"], least=0.95)
    report.goal(f"{judged} blocks, 1 client: MISSes by the service", miss["by_service"], least=0.95)
    report.goal(f"{judged} blocks, 5/s: MISS p50 in ms", calm["p50_ms"], most=40)
    report.goal(f"{judged} blocks, 5/s: share with vectors", calm["with_vectors"], least=0.95)
    for size in (size for size in sizes if size >= judged):
        found = figures[f"{size} blocks"]
        report.goal(f"{size} blocks: HITs that there were", found["HIT, 1 client"]["n"], least=1)
        report.goal(f"{size} blocks: HIT p99 in ms", found["HIT, 1 client"]["p99_ms"], most=5)
        for name in ("MISS, 5/s by chance", "MISS, 10/s by chance", f"MISS, {CLIENTS} clients"):
            report.goal(f"{size} blocks, {name}: p99 in ms", found[name]["p99_ms"], most=SLOWEST_MS)
    report.goal("busy worker, MISS, 5/s: p99 in ms", figures["busy worker"]["p99_ms"], most=SLOWEST_MS)
    for name, each in figures["endpoint"].items():
        report.goal(f"endpoint of 5 ms, {name}: p99 in ms", each["p99_ms"], most=50)
    for name in ("held by the service", "by Postgres"):
        report.goal(f"tier 3 without the embedding, {name}: p99 in ms", figures["tier 3"][name]["p99_ms"], most=50)
    report.goal(f"tier 3 on the disk at {figures['tier 3']['blocks']} blocks: MB", figures["tier 3"]["mb"], most=500)
    short = figures["tier 2"]
    report.goal(f"tier 2 search at {short['sessions']} sessions: p99 in ms", short["search"]["p99_ms"], most=5)
    report.goal(f"tier 2 on the disk at {short['sessions']} sessions: MB", short["mb"], most=100)


def _shares(asked: Sequence[Asked]) -> dict[str, float]:
    total = max(1, len(asked))
    return {
        "by_service": round(sum(each.rung == "service" for each in asked) / total, 4),
        "with_vectors": round(sum(each.vectors for each in asked) / total, 4),
    }
