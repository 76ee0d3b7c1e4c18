"""Reading the demo's month, and judging an answer by its probe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nextlevel.errors import Misconfigured
from nextlevel.ops.demo import month
from nextlevel.ops.demo.month import Probe


def test_the_same_words_in_one_session_are_counted(tmp_path: Path) -> None:
    """The count is part of a turn's identity: without it a repeated "ok" would be taken for a retelling."""
    row = {"session": "s", "turn": 1, "at": "2026-06-01T09:00:00+02:00", "cwd": "/x", "user": "ok", "assistant": "ok"}
    rows = [row, row, {**row, "session": "t"}, {**row, "user": "no"}]
    (tmp_path / "month.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert [0, 1, 0, 0] == [line.occurrence for line in month.lines(tmp_path)]
    assert ["s", "t"] == month.sessions(month.lines(tmp_path))


def test_the_month_of_the_checkout_is_found() -> None:
    """From wherever the demo is started."""
    assert 60 <= len(month.lines())
    assert 14 == len(month.sessions(month.lines()))
    assert 4 == sum(probe.show for probe in month.probes())


def test_without_the_examples_it_says_where_the_demo_can_be_played(tmp_path: Path) -> None:
    """They are not in the installed package."""
    with pytest.raises(Misconfigured, match="checkout"):
        month.lines(tmp_path)


@pytest.mark.parametrize(
    ("expect", "context", "passes"),
    [
        (("8091",), "- crm: runs on port 8091", True),
        (("8091", "CRM"), "- crm: runs on port 8091", True),
        (("8091", "esche"), "- crm: runs on port 8091", False),
        (("8091",), "", False),
        (None, "", True),
        (None, "- crm: runs on port 8091", False),
    ],
)
def test_a_probe_passes_if_every_word_is_there_or_nothing_where_nothing_is_expected(
    expect: tuple[str, ...] | None, context: str, passes: bool
) -> None:
    """An abstention is as much an answer as a fact."""
    assert passes == Probe("q", expect, "why").passes(context)
