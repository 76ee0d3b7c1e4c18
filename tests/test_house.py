"""The house's walls that no tool checks: the roles answer to one name only."""

from __future__ import annotations

import subprocess
import sys
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
