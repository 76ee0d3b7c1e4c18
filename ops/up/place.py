"""Where the embedded servers live, and as whom they run.

Run by a person, everything is in the data directory and belongs to that person. Run by root, the servers drop to an
unprivileged user (`nextlevel` if there is one, else `postgres`, else `nobody`), since Postgres refuses root. That user
must reach programs and data, yet a parent of either may be closed to it (a checkout in /root). We never open somebody's
directories; instead

- the programs are copied once to /var/lib/nextlevel/bin/<distribution>-<version>/,
- the servers' data go to /var/lib/nextlevel/<hash of the resolved data directory>/.

A place once taken is kept, also when a parent is opened later: data never seem to vanish.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nextlevel.errors import Misconfigured

SYSTEM_DIR = Path("/var/lib/nextlevel")
UNPRIVILEGED = ("nextlevel", "postgres", "nobody")
MIN_FREE_MIB = 128  # a fresh cluster with its first write-ahead log takes about 60
# sun_path holds 104 bytes on macOS (108 on Linux), and the longest name we put there is `/.s.PGSQL.5432` and a NUL.
MAX_SOCKET_DIR_BYTES = 104 - len("/.s.PGSQL.5432") - 1


@dataclass(frozen=True, slots=True)
class Place:
    """The home of the embedded servers, the directory of their sockets, and their user where it is not our own."""

    home: Path
    sockets: Path
    user: pwd.struct_passwd | None

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def owner_uid(self) -> int:
        return os.geteuid() if self.user is None else self.user.pw_uid

    def identity(self) -> dict[str, Any]:
        """What `subprocess` needs to run a program as the servers' user."""
        if self.user is None:
            return {}
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}

    def make_private(self, directory: Path) -> None:
        """Make a directory that only the servers' user may enter; one that is there is left as it is."""
        try:
            directory.mkdir(mode=0o700)
        except FileExistsError:
            return
        except OSError as error:
            raise Misconfigured(
                f"{directory} can't be made ({error.strerror}): "
                f"free or open its disk, or choose another NEXTLEVEL_DATA_DIR"
            ) from error
        if self.user is not None:
            os.chown(directory, self.user.pw_uid, self.user.pw_gid)

    def check_owner(self, directory: Path) -> None:
        """Refuse a directory of somebody else, before a server fails on it in its own words."""
        owner = directory.stat().st_uid
        if owner != self.owner_uid:
            raise Misconfigured(
                f"{directory} belongs to {_name(owner)}, but the servers run as {_name(self.owner_uid)}: "
                f"run as its owner, or choose another NEXTLEVEL_DATA_DIR"
            )

    def describe(self) -> str:
        """One line for the person: where the data went, and as whom the servers run."""
        return str(self.home) if self.user is None else f"{self.home} (servers run as user {self.user.pw_name})"


def prepare(data_dir: Path) -> Path:
    """Make a data directory if it is not there, see that it can be written, and return its absolute path."""
    data_dir = data_dir.resolve()
    try:
        if not data_dir.exists():
            data_dir.mkdir(parents=True)
            data_dir.chmod(0o711 if os.geteuid() == 0 else 0o700)
        with tempfile.TemporaryFile(dir=data_dir):
            pass
    except OSError as error:
        raise Misconfigured(
            f"data directory {data_dir} can't be written ({error.strerror}): "
            "run as its owner, or choose another NEXTLEVEL_DATA_DIR"
        ) from error
    return data_dir


def find(data_dir: Path) -> Place:
    """The place that belongs to a data directory; made if it is not there yet.

    Raises:
        Misconfigured: it can't be written or reached, its disk is full, or it belongs to somebody else.
    """
    data_dir = prepare(data_dir)
    user = _server_user(data_dir) if os.geteuid() == 0 else None
    home = data_dir if user is None else _home_for(data_dir, user)
    free_mib = shutil.disk_usage(home).free // 2**20
    if free_mib < MIN_FREE_MIB:
        raise Misconfigured(
            f"the disk of {home} is full: {free_mib} MiB are free, the stores need {MIN_FREE_MIB}. "
            "Free some space, or choose another NEXTLEVEL_DATA_DIR"
        )
    place = Place(home, _socket_dir(home), user)
    place.make_private(place.sockets)
    _check_sockets(place)
    place.logs.mkdir(exist_ok=True)
    return place


def programs(place: Place, distribution: str, package: str, parts: tuple[str, ...], probe: str) -> Path:
    """The directory that holds a wheel's `parts` (paths beside the package), where the servers' user can run `probe`.

    The package is located, not imported: importing either wheel runs code that we don't want in this process.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Misconfigured(f"package {distribution} is not installed: install hermes-nextlevel again")
    root = Path(spec.origin).parent.parent
    if not (root / probe).exists():
        raise Misconfigured(f"{distribution} holds no {probe}: there is no build for this platform; set a DSN instead")
    if place.user is None or _reaches(place.user, root / probe):
        return root
    copy = SYSTEM_DIR / "bin" / f"{distribution}-{importlib.metadata.version(distribution)}"
    if not copy.exists():
        _copy(root, parts, copy)
    return copy


def elsewhere(data_dir: Path) -> Path:
    """Where root's servers keep the data of a data directory that their user can't reach."""
    return SYSTEM_DIR / hashlib.sha256(bytes(data_dir.resolve())).hexdigest()[:12]


def _server_user(data_dir: Path) -> pwd.struct_passwd:
    # Whoever owns the data goes on owning it: a `postgres` user that a package adds later takes over from nobody.
    for directory in (elsewhere(data_dir) / "postgres", data_dir / "postgres"):
        if directory.exists():
            owner = pwd.getpwuid(directory.stat().st_uid)
            if owner.pw_name in UNPRIVILEGED:
                return owner
    for name in UNPRIVILEGED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Misconfigured(f"as root the stores need an unprivileged user; add one: `useradd --system {UNPRIVILEGED[0]}`")


def _home_for(data_dir: Path, user: pwd.struct_passwd) -> Path:
    other = elsewhere(data_dir)
    if other.exists():
        return other
    if _reaches(user, data_dir):
        return data_dir
    if (data_dir / "postgres").exists():
        raise Misconfigured(
            f"the stores run as user {user.pw_name}, who can no longer reach {data_dir}: a parent of it was closed"
        )
    other.mkdir(parents=True)
    other.chmod(0o711)
    return other


def _reaches(user: pwd.struct_passwd, path: Path) -> bool:
    # Asked by trying, as that user: mode bits alone don't know of access lists and mount options.
    probe = subprocess.run(
        ["test", "-x", path], user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/", check=False
    )
    return probe.returncode == 0


def _socket_dir(home: Path) -> Path:
    near = home / "sockets"
    # Some readers of a unix:// address (arq's is one) don't unquote it, so a path with a space in it won't do.
    if len(bytes(near)) <= MAX_SOCKET_DIR_BYTES and quote(str(near)) == str(near):
        return near
    digest = hashlib.sha256(bytes(home)).hexdigest()[:12]
    return Path("/tmp") / f"nextlevel-{digest}"  # noqa: S108 - short by design; _check_sockets refuses a planted one


def _check_sockets(place: Place) -> None:
    found = place.sockets.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != place.owner_uid or found.st_mode & 0o077:
        raise Misconfigured(
            f"{place.sockets} is not a private directory of {_name(place.owner_uid)}: remove it and start again"
        )


def _copy(root: Path, parts: tuple[str, ...], copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=copy.parent, prefix=".copy-"))
    for part in parts:
        if (root / part).exists():
            shutil.copytree(root / part, draft / part, symlinks=True)
    for path in (draft, *draft.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o555 if mode & 0o100 else mode | 0o444)
    try:
        draft.rename(copy)
    except OSError:  # another process was first
        shutil.rmtree(draft)


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"
