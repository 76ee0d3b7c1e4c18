"""`nextlevel service …`: `nextlevel up` as a service of this user, there again after a reboot. By systemd."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from nextlevel import settings
from nextlevel.errors import Misconfigured

from .commands import examples

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Run `nextlevel up` as a service of this user.")

UNIT = "nextlevel.service"
_KEPT = ("NEXTLEVEL_DATA_DIR", "NEXTLEVEL_CONFIG_FILE")
_SYSTEMCTL_S = 60.0

_TEXT = """[Unit]
Description=nextlevel: long-term memory for Hermes Agent

[Service]
Type=exec
ExecStart={command} up
{environment}Restart=on-failure
RestartSec=2
# up stops its parts in order; the stores are the last, and need a moment.
KillMode=mixed
TimeoutStopSec=60

[Install]
WantedBy=default.target
"""


@app.command(epilog=examples("nextlevel service install", "nextlevel --data-dir ~/memory service install"))
def install() -> None:
    """Write the unit, start it, and have it started with this machine. Repeat it after a change of settings."""
    path = unit_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(unit_text(), encoding="utf-8")
    typer.echo(f"unit:   {path}")
    _systemctl("daemon-reload")
    _systemctl("enable", UNIT)
    _systemctl("restart", UNIT)
    typer.echo(f"reboot: {_lingering()}")
    if left := sorted(name for name in os.environ if name.startswith("NEXTLEVEL_") and name not in _KEPT):
        typer.echo(f"not in the unit: {', '.join(left)}; put them into {settings.config_file()}")
    typer.echo("now:    nextlevel service status")


@app.command()
def status() -> None:
    """Tell whether it runs, in systemd's words. Exit code 0 if it does."""
    _need_unit()
    raise typer.Exit(subprocess.run(["systemctl", "--user", "--no-pager", "status", UNIT], check=False).returncode)


@app.command()
def logs(
    lines: Annotated[int, typer.Option(help="Show so many of the last lines.", min=1)] = 100,
    follow: Annotated[bool, typer.Option("--follow", help="Go on showing what comes, until Ctrl-C.")] = False,
) -> None:
    """Show what it has logged."""
    _need_unit()
    command = ["journalctl", "--user", "--unit", UNIT, "--lines", str(lines), "--no-pager"]
    raise typer.Exit(subprocess.run([*command, *(["--follow"] if follow else [])], check=False).returncode)


@app.command()
def uninstall() -> None:
    """Stop it, and start it no more. What is remembered stays."""
    path = unit_path()
    if not path.exists():
        typer.echo("it was not installed")
        return
    _systemctl("disable", "--now", UNIT)
    path.unlink()
    _systemctl("daemon-reload")
    typer.echo(f"removed: {path}")


def unit_path() -> Path:
    """Where this user's units lie.

    Raises:
        Misconfigured: this system has no systemd.
    """
    if shutil.which("systemctl") is None:
        raise Misconfigured("there is no systemd here: have `nextlevel up` started by what starts your other services")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user" / UNIT


def unit_text() -> str:
    """The unit for this installation, and for the data directory and settings file in use."""
    beside = Path(sys.executable).with_name("nextlevel")
    command = beside if beside.exists() else Path(shutil.which("nextlevel") or sys.argv[0]).resolve()
    told = {"NEXTLEVEL_DATA_DIR": settings.load().data_dir.resolve(), "NEXTLEVEL_CONFIG_FILE": settings.config_file()}
    environment = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in told.items())
    return _TEXT.format(command=_quoted(str(command)), environment=environment)


def _quoted(text: str) -> str:
    """As one word of a unit file: there `%` and `$` stand for something, and white space divides."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _systemctl(*arguments: str) -> None:
    done = subprocess.run(
        ["systemctl", "--user", *arguments], check=False, capture_output=True, text=True, timeout=_SYSTEMCTL_S
    )
    if done.returncode:
        raise Misconfigured(
            f"systemctl --user {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}\n"
            "Run it in a session of this user that has a user manager (log in over ssh or at the machine, not by su)."
        )


def _lingering() -> str:
    """Let this user's services run without a login; not everybody may ask for it."""
    done = subprocess.run(["loginctl", "enable-linger"], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return "it will run without anybody logging in"
    return "it will run once you log in; an administrator may run `loginctl enable-linger` for you, then from the start"


def _need_unit() -> None:
    if not unit_path().exists():
        raise Misconfigured("it is not installed: run `nextlevel service install`")
