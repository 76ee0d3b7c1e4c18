"""The real Hermes, in a Python of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(__file__).parent / "host"


def python() -> Path:
    """The interpreter of the venv that has Hermes."""
    if not is_there():
        pytest.fail(f"there is no Hermes at {_python()}: `make test` installs it")
    return _python()


def is_there() -> bool:
    """Whether the host can be run: on a Python that it does not support, it can't even be installed."""
    return _python().exists()


def _python() -> Path:
    return Path(os.environ.get("NEXTLEVEL_HERMES_PYTHON") or ROOT / ".hermes" / "bin" / "python")


def command(home: Path, *arguments: str) -> str:
    """What the host's own command line prints."""
    done = subprocess.run(
        [python().with_name("hermes"), *arguments],
        env=_environment(home),
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert 0 == done.returncode, done.stderr[-3000:]
    return done.stdout


def run(script: str, home: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """Run one of the scripts in `host/` on a home, and give what it printed."""
    done = subprocess.run(
        [python(), SCRIPTS / f"{script}.py", json.dumps(wanted)],
        env=_environment(home),
        cwd=home,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert 0 == done.returncode, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HERMES_HOME": str(home), "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
