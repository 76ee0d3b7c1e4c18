"""The demo as a newcomer runs it: one month, told by the plugin and remembered, everything real and started by it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from nextlevel.ops.demo import play as demo
from nextlevel.ops.demo.month import lines
from tests.support import stores

WITHIN_S = 110

pytestmark = pytest.mark.journey


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """The demo's directory, for all tests of this file, in order."""
    directory = stores.make_dir()
    yield directory / "demo"
    demo.prepare(demo.Ground(directory / "demo"), fresh=True)
    stores.remove_dir(directory)


def start(ground: Path, *options: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-c",
        "from nextlevel.ops.cli import main; main()",
        "demo",
        "--dir",
        str(ground),
        *options,
    ]
    environment = {**os.environ, "COLUMNS": "80", "NEXTLEVEL_POSTGRES_DSN": "postgresql://nobody@nowhere.invalid/mine"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def played(ground: Path, *options: str) -> str:
    out, _ = start(ground, *options).communicate(timeout=WITHIN_S)
    return out


def blocks(out: str) -> str:
    return out[out.index("What is remembered") : out.index("How it hangs together")]


def processes_of(ground: Path) -> list[str]:
    """What still runs of a demo: its stores and roles name its directory, in their command line or environment."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            told = " ".join(process.cmdline()) + process.environ().get("NEXTLEVEL_DATA_DIR", "")
            if str(ground) in told and process.status() != psutil.STATUS_ZOMBIE:
                found.append(told)
    return found


def test_ctrl_c_in_the_middle_stops_everything_in_order(ground: Path) -> None:
    """Nothing may be left running in a directory that a person is about to delete."""
    with start(ground) as demo:
        assert demo.stdout is not None
        next(line for line in demo.stdout if "3 Jun" in line)
        demo.send_signal(signal.SIGINT)
        rest = demo.stdout.read()
        assert 130 == demo.wait(WITHIN_S)
    assert "what was told is kept" in rest
    assert [] == processes_of(ground)


def test_the_next_run_goes_on_from_there_and_the_one_after_doubles_nothing(ground: Path) -> None:
    """The demo's promise: typed blocks with validity, what replaced what, a graph, recalls with reasons, times."""
    out = played(ground)
    outcome = re.search(r"(\d+) told now, (\d+) known from before", out)
    assert outcome is not None, out
    told, known = map(int, outcome.groups())
    assert len(lines()) == told + known
    assert min(told, known) > 5
    shown = blocks(out)
    assert re.search(r"runs on port 8091\s+since 4 Jun\s+└ replaced: .*8080\s+1 Jun – 4 Jun", shown), shown
    assert out.count("because") >= 3
    assert "the model gets no text" in out
    assert re.search(r"never asked \(miss\) +[\d.]+ +[\d.]+ +\w+ \d+", out)
    assert [] == [line for line in out.splitlines() if len(line) > 80]
    assert not re.search(r"Tr0pfstein|ghp_9k", out)

    again = played(ground)
    assert f"0 told now, {len(lines())} known from before" in again
    assert blocks(out) == blocks(again)


def test_a_directory_that_is_not_the_demos_is_left_alone(tmp_path: Path) -> None:
    """`--fresh --dir ~` must not be the end of somebody's home."""
    (tmp_path / "thesis.tex").touch()
    assert "holds something else" in played(tmp_path, "--fresh")
    assert (tmp_path / "thesis.tex").exists()
