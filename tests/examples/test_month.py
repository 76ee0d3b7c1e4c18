"""The demo's month: every reader meets our memory through it, so it must be well formed and be what it claims."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nextlevel.safety.redact import redact

EXAMPLES = Path(__file__).parents[2] / "examples"
MONTH: list[dict[str, Any]] = [json.loads(line) for line in (EXAMPLES / "month.jsonl").read_text().splitlines()]
PROBES: list[dict[str, Any]] = json.loads((EXAMPLES / "month.probes.json").read_text())


def said() -> str:
    return "\n".join(turn["user"] + "\n" + turn["assistant"] for turn in MONTH)


def test_it_is_a_month_in_order() -> None:
    """Facts replace one another in the order they were said; in another, the old ones would win."""
    times = [datetime.fromisoformat(turn["at"]) for turn in MONTH]
    assert sorted(times) == times
    assert {(2026, 6)} == {(at.year, at.month) for at in times}
    assert {timedelta(hours=2)} == {at.utcoffset() for at in times}
    assert 60 <= len(MONTH) <= 75


def test_turns_are_numbered_within_their_session() -> None:
    """A number left out would be waited for."""
    sessions: dict[str, list[int]] = {}
    for turn in MONTH:
        sessions.setdefault(turn["session"], []).append(turn["turn"])
    assert all(list(range(1, len(numbers) + 1)) == numbers for numbers in sessions.values())


def test_the_secrets_in_it_are_of_kinds_that_we_redact() -> None:
    """The demo shows that they never reach the disk; a form that we don't know would show the contrary."""
    text = redact(said()).text
    assert "ghp_9kQz" in said()
    assert "ghp_9kQz" not in text
    assert "Tr0pfsteinhoehle" not in text


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe["query"])
def test_what_a_probe_expects_was_said(probe: dict[str, Any]) -> None:
    """A typing error here would look like a fault of recall."""
    assert probe.get("abstain", False) != bool(probe.get("expect"))
    assert [] == [word for word in probe.get("expect", []) if word.casefold() not in said().casefold()]


def test_the_demo_shows_four_with_one_of_the_past_and_one_that_abstains() -> None:
    """That is what the demo promises to print."""
    shown = [probe for probe in PROBES if probe.get("show")]
    assert (4, 1, 1) == (len(shown), sum("as_of" in p for p in shown), sum("abstain" in p for p in shown))
