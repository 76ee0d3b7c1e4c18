"""The service of this user: systemd itself reads the unit, and a stand-in takes the orders, since tests have no bus."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nextlevel.errors import Misconfigured
from nextlevel.ops.cli import unit

pytestmark = pytest.mark.skipif(shutil.which("systemctl") is None, reason="there is no systemd here")


@pytest.fixture
def orders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with what systemctl and loginctl were told; a file `refuses` lets both fail."""
    programs, told = tmp_path / "bin", tmp_path / "orders"
    programs.mkdir()
    told.touch()
    for name in ("systemctl", "loginctl", "journalctl"):
        script = (
            f'#!/bin/sh\necho {name} "$@" >> {told}\n[ ! -e {tmp_path}/refuses ] || {{ echo no bus >&2; exit 1; }}\n'
        )
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("NEXTLEVEL_DATA_DIR", str(tmp_path / "a memory of 100%"))
    return told


def run(*arguments: str) -> str:
    return CliRunner().invoke(unit.app, list(arguments), catch_exceptions=False).output


def test_it_is_installed_enabled_and_started(orders: Path) -> None:
    """Also after a reboot without a login."""
    assert "without anybody logging in" in run("install")
    assert [
        "systemctl --user daemon-reload",
        "systemctl --user enable nextlevel.service",
        "systemctl --user restart nextlevel.service",
        "loginctl enable-linger",
    ] == orders.read_text().splitlines()
    run("status")
    run("logs", "--lines", "7")
    assert "journalctl --user --unit nextlevel.service --lines 7 --no-pager" in orders.read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_systemd_reads_the_unit(orders: Path) -> None:
    """With a data directory whose name has what stands for something else in a unit."""
    run("install")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", unit.unit_path()], capture_output=True, text=True, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if unit.UNIT in line]
    assert ([], True) == (complaints, "a memory of 100%%" in unit.unit_path().read_text())


def test_uninstalling_leaves_nothing(orders: Path) -> None:
    """Twice is as good as once."""
    run("install")
    assert "removed" in run("uninstall")
    assert not unit.unit_path().exists()
    assert "was not installed" in run("uninstall")
    with pytest.raises(Misconfigured, match="service install"):
        run("status")


def test_a_user_without_a_bus_is_told_what_to_do(orders: Path, tmp_path: Path) -> None:
    """After su there is none."""
    (tmp_path / "refuses").touch()
    with pytest.raises(Misconfigured, match=r"no bus\n.*log in"):
        run("install")
