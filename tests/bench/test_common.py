"""The arithmetic of the benches."""

from __future__ import annotations

import pytest

from bench.common import Report, Times
from bench.talk import Talk


@pytest.mark.parametrize(("percent", "expected"), [(50, 50.0), (95, 95.0), (99, 99.0), (100, 100.0), (0, 1.0)])
def test_a_percentile_is_a_value_that_was_measured(percent: float, expected: float) -> None:
    """Nearest rank: nothing is made up between two values."""
    assert expected == Times([float(value) for value in range(100, 0, -1)]).percentile(percent)


def test_the_99th_of_a_few_values_is_the_slowest() -> None:
    """So that a short run never looks better than its worst."""
    assert 9.0 == Times([1.0, 9.0, 2.0]).p99


def test_only_goals_decide(capsys: pytest.CaptureFixture[str]) -> None:
    """What a later issue wants is told, and fails nobody before."""
    report = Report("mine", seed=1, quick=True, machine={})
    report.goal("fast", 3.0, most=5.0)
    report.stretch("faster", 3.0, most=1.0)
    assert 0 == report.finish({})
    report.goal("enough", 0.2, least=0.5)
    assert 1 == report.finish({})
    assert 2 == len(capsys.readouterr().out.splitlines())


def test_the_same_seed_says_the_same_and_never_asks_twice() -> None:
    """A MISS that was asked before is a HIT."""
    assert [Talk(3).turn() for _ in range(5)] == [Talk(3).turn() for _ in range(5)]
    talk = Talk(3)
    questions = [talk.question() for _ in range(2_000)]
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("size", [4_096, 1_048_576])
def test_a_turn_of_a_size_has_about_that_size(size: int) -> None:
    """The goal speaks of 4 kB and of 1 MiB, tools included."""
    said = Talk(5).turn_of(size)
    assert 0.97 * size < said.bytes < 1.03 * size
    assert all(len(result) <= 16_384 for _, _, result in said.tools)
