"""One `nextlevel up` a data directory: an flock, which ends with its process however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nextlevel.errors import AlreadyRunning


@contextmanager
def held(data_dir: Path) -> Iterator[None]:
    """Own a data directory, which must exist.

    Raises:
        AlreadyRunning: another process does; the message has its pid.
    """
    with (data_dir / "up.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            pid = file.read().strip() or "unknown"
            raise AlreadyRunning(f"`nextlevel up` already runs in {data_dir} (pid {pid})") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield  # the file stays: deleting it would let two processes lock two files of one name
