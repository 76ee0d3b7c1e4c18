"""One server process that may outlive us: started detached, found again by its pid file, stopped with patience."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import psutil

from .place import Place

Say = Callable[[str], None]
Argv = Sequence[str | Path]

POLL_S = 0.02
MAX_LOG_BYTES = 10 * 2**20


def silent(_: str) -> None:
    """A `Say` for callers without a person at hand."""


class Process:
    """A process by its pid and start time, so that a later process with the same number is not taken for it."""

    def __init__(self, pid: int, child: subprocess.Popen[bytes] | None = None) -> None:
        """Raises psutil.NoSuchProcess where there is none."""
        self.pid = pid
        self._child = child
        self._process = psutil.Process(pid)

    def alive(self) -> bool:
        """False once it ended, also while it is a zombie that nobody has reaped."""
        if self._child is not None:
            return self._child.poll() is None
        try:
            return self._process.is_running() and self._process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False

    def end(self, steps: Sequence[tuple[signal.Signals, float]]) -> None:
        """Send each signal and wait its seconds, until the process is gone."""
        for number, patience_s in steps:
            if not self.alive():
                return
            os.kill(self.pid, number)
            wait_until(lambda: not self.alive(), patience_s)


def wait_until(condition: Callable[[], bool], within_s: float) -> bool:
    """Poll a condition; False if it did not come true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def spawn(argv: Argv, place: Place, log: Path) -> Process:
    """Start a server detached: in a session of its own, so that our Ctrl-C and our end don't reach it."""
    with open_log(log) as sink:
        child = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
            cwd=place.home,
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            **place.identity(),
        )
    return Process(child.pid, child)


def named_in(pid_file: Path, mark: str | Path) -> Process | None:
    """The living process that a pid file names, if its command line has `mark`; a stale or reused number gives None."""
    try:
        pid = int(pid_file.read_text().split("\n", 1)[0])
        found = Process(pid)
        return found if found.alive() and str(mark) in psutil.Process(pid).cmdline() else None
    except (FileNotFoundError, ValueError, psutil.NoSuchProcess, psutil.ZombieProcess):
        return None


def open_log(path: Path) -> BinaryIO:
    """A log to append to; one above 10 MiB is first put aside as `<name>.1`."""
    if path.exists() and path.stat().st_size > MAX_LOG_BYTES:
        path.replace(path.with_name(f"{path.name}.1"))
    return path.open("ab")


def tail(path: Path, lines: int = 5) -> str:
    """The last lines of a log, indented, to stand under an error message."""
    try:
        text = path.read_bytes()[-8192:].decode("utf-8", "replace")
    except FileNotFoundError:
        return "  (no log)"
    return "\n".join(f"  {line}" for line in text.splitlines()[-lines:])
