"""Named queries: each `.sql` file here is a room of queries, `-- name: x` opens one; `SQL.turns.claim` is its text.

One test prepares every one of them against a real Postgres, so a renamed column fails in a second.
"""

import re
from functools import cached_property
from importlib.resources import files
from types import SimpleNamespace

_NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def queries(text: str) -> dict[str, str]:
    """The queries of one file by name, comments kept: they show in Postgres's own logs.

    >>> queries("-- name: one\\nSELECT 1;\\n-- name: two\\nSELECT 2;")
    {'one': 'SELECT 1;', 'two': 'SELECT 2;'}
    """
    parts = _NAME.split(text)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


class _Rooms:
    def __getattr__(self, room: str) -> SimpleNamespace:
        if room not in self._files:
            raise AttributeError(f"no file {room}.sql")
        return self._files[room]

    @cached_property
    def _files(self) -> dict[str, SimpleNamespace]:
        return {
            path.name.removesuffix(".sql"): SimpleNamespace(**queries(path.read_text("utf-8")))
            for path in files(__package__).iterdir()
            if path.name.endswith(".sql")
        }


SQL = _Rooms()
