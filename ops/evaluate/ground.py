"""Stores for one evaluation, out of reach of the person's own: a temporary directory that is removed afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nextlevel.ops.up import place
from nextlevel.settings import Settings, load

# What says where the person's own memory is. All else (models, thresholds) is what is to be judged, and is kept.
_WHERE = frozenset(
    {
        *(
            "data_dir",
            "postgres_dsn",
            "postgres_admin_dsn",
            "postgres_password",
            "postgres_admin_password",
            "redis_url",
        ),
        *("serve_host", "serve_port", "service_url", "secret", "accept_unenrolled", "homes"),
    }
)


@contextmanager
def fresh() -> Iterator[Settings]:
    """The person's settings with an empty data directory and a free port, for this process and those it starts."""
    own = load()
    kept = {name: getattr(own, name) for name in own.model_fields_set - _WHERE}
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("NEXTLEVEL_")]:
        del os.environ[name]
    os.environ["NEXTLEVEL_CONFIG_FILE"] = os.devnull
    data_dir = Path(tempfile.mkdtemp(prefix="nextlevel-eval-"))
    try:
        if os.geteuid() == 0:
            data_dir.chmod(0o711)  # root's servers run as another user, who must pass through
        yield load(data_dir=data_dir, serve_port=_free_port(), **kept)
    finally:
        shutil.rmtree(place.find(data_dir).home, ignore_errors=True)
        shutil.rmtree(data_dir, ignore_errors=True)
        os.environ.clear()
        os.environ.update(before)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
