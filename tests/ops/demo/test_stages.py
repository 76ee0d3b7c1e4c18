"""The demo's view of the pipeline: it is over when nothing is on its way, and never before."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from nextlevel.ops.demo import stages
from nextlevel.ops.demo.stages import View, standing


def status(stages_: dict[str, int], ended: dict[str, int]) -> dict[str, Any]:
    return {"store": {"stages": {name: {"waiting": n} for name, n in stages_.items()}, "ended_today": ended}}


def test_what_is_on_its_way_is_counted_wherever_it_stands() -> None:
    """A turn on the agent's disk alone is not there yet, nor is one that waits for a stage."""
    now = standing(9, 9, 2, status({"received": 1, "extracted": 1, "linked": 1}, {"stored": 3, "skipped": 1}))
    assert 5 == now.in_flight
    assert 0 == standing(9, 9, 0, status({}, {"stored": 5, "skipped": 4})).in_flight


def test_a_bad_end_is_shown_as_other() -> None:
    """Quarantined and dead turns are at their end, and must not vanish from the sum."""
    assert 3 == standing(3, 3, 0, status({}, {"dead": 1, "quarantined": 2})).counts["other"]


def test_without_a_terminal_there_are_lines_and_only_of_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of the demo is readable, and not a thousand times the same."""
    monkeypatch.setattr(stages, "PLAIN_EVERY_S", 0)
    out = io.StringIO()
    now = standing(2, 9, 1, status({"received": 1}, {}))
    with View(Console(file=out, width=80)) as view:
        view.say("  1 Jun")
        view.show(now)
        view.show(now)
    assert ["  1 Jun", "          2 of 9 told · 1 on disk · 1 received"] == out.getvalue().splitlines()


def test_on_a_terminal_the_table_is_drawn_in_place() -> None:
    """And taken away at the end, so that only the result stays."""
    out = io.StringIO()
    with View(Console(file=out, width=80, force_terminal=True)) as view:
        view.show(standing(2, 9, 1, status({"received": 1}, {"dead": 1})))
    assert "received" in out.getvalue()
    assert "other" in out.getvalue()
    assert out.getvalue().rstrip().endswith("\x1b[2K")


def test_on_a_terminal_the_oldest_age_and_what_was_learnt_last_are_drawn_too() -> None:
    """A depth alone does not tell whether anything moves."""
    out = io.StringIO()
    now = standing(2, 9, 0, {"store": {"stages": {"received": {"waiting": 1, "oldest_s": 2.5}}, "ended_today": {}}})
    with View(Console(file=out, width=80, force_terminal=True)) as view:
        view.learnt(["api runs on port 8091"])
        view.show(now)
    assert "oldest 2.5 s" in out.getvalue()
    assert "+ api runs on port 8091" in out.getvalue()
