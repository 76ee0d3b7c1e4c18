"""Each bench runs whole in its quick form: what others read of it is its last line, so that line must be right."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHES = ("sync_turn", "ladder", "prefetch", "pipeline", "store", "host")
WITHIN_S = 300  # seconds where nobody else is busy; what it waits for are conditions

pytestmark = [pytest.mark.journey, pytest.mark.timeout(WITHIN_S)]


@pytest.fixture(scope="module", params=BENCHES)
def told(request: pytest.FixtureRequest) -> tuple[str, int, dict[str, Any]]:
    """A bench, its exit code, and its last line. No goal is asked of it: others use this machine too."""
    name: str = request.param
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}", "--quick", "--seed", "7"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=WITHIN_S - 20,
    )
    assert done.stdout, done.stderr[-3000:]
    return name, done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_the_last_line_tells_whether_every_goal_holds(told: tuple[str, int, dict[str, Any]]) -> None:
    """A gate reads `ok` or the exit code; both must say the same."""
    name, code, line = told
    assert "error" not in line, line
    assert name == line["bench"]
    assert isinstance(line["ok"], bool)
    assert line["ok"] is all(goal["holds"] for goal in line["goals"])
    assert (0 if line["ok"] else 1) == code
    assert line["goals"]


def test_figures_come_with_machine_and_seed(told: tuple[str, int, dict[str, Any]]) -> None:
    """A figure without them can be compared with nothing."""
    _, _, line = told
    assert 7 == line["seed"]
    assert line["quick"] is True
    machine = line["machine"]
    assert {"cpu", "cores", "memory_gib", "kernel", "python", "load_at_start"} <= machine.keys()
    assert min(machine["loop_ms_at_start"], machine["loop_ms_at_end"]) > 0
    assert line["figures"]


def test_a_pipeline_loses_and_doubles_nothing(told: tuple[str, int, dict[str, Any]]) -> None:
    """The one goal that does not depend on how busy the machine is."""
    name, _, line = told
    if name != "pipeline":
        pytest.skip("only the pipeline has a backlog")
    assert (0, 0) == (line["figures"]["backlog"]["lost"], line["figures"]["backlog"]["doubled"])
