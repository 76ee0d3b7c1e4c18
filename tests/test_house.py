"""The house's walls that no tool checks: the roles answer to one name only, and what is installed is pinned."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("role", ["producers", "workers", "ops"])
def test_a_role_refuses_its_bare_name(role: str) -> None:
    """In a checkout both names could be imported, and a role imported twice has two of each class and each global."""
    bare = subprocess.run(
        [sys.executable, "-c", f"import {role}"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert 1 == bare.returncode
    assert f"import this room as nextlevel.{role}" in bare.stderr


@pytest.mark.parametrize("role", ["producers", "workers", "ops"])
def test_a_role_is_reached_through_its_link(role: str) -> None:
    """A copy instead of a link would go its own way."""
    link = ROOT / "nextlevel" / role
    assert link.is_symlink()
    assert ROOT / role == link.resolve()


def test_whatever_is_required_is_pinned() -> None:
    """A package added without `constraints.txt` would be another one tomorrow. That file's head tells the cure."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    pinned = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    assert set() == {re.split(r"[^\w-]", each)[0].lower() for each in required} - pinned
