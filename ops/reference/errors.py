"""The tree of errors, what a script and what an HTTP client sees of each."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from nextlevel import errors
from nextlevel.api.errors import STATUS
from nextlevel.ops.cli import exit_code

from .markdown import PRINTED, table

_HEAD = """\
# Errors and exit codes

Each error says what to do. Two branches decide: what is *transient* is tried again by itself, and loses nothing;
what is *permanent* stays visible with its reason, in `nextlevel status` and `nextlevel trace`.

| exit code | means |
|---|---|
| 0 | done |
| 1 | what was asked for failed; `doctor`: something is broken |
| 2 | wrong usage, settings or input: it will fail again until that is changed |
| 3 | what it needs can't be reached: try again later |
| 130 | stopped by Ctrl-C (`demo`; `up` stops in order and gives 0) |

"""
_STARTING = """
## When `nextlevel up` does not start

Each is told in one message, with its cure; exit code 2, unless another is named. What was started is stopped again.

| what is wrong | what it says to do |
|---|---|
| the port is in use | stop what listens there, or set `NEXTLEVEL_SERVE_PORT` |
| the data directory can't be written | run as its owner, or choose another `NEXTLEVEL_DATA_DIR` |
| it belongs to somebody else | run as its owner, or choose another |
| another major version of Postgres made it | dump it with that version, restore it elsewhere; it is left as it is |
| a newer nextlevel made it | use a newer nextlevel |
| files in it are not ours | move them away; nothing is overwritten |
| the disk is full | free some space: the stores need 128 MiB to start |
| another `up` runs on it (exit code 1) | its pid is named |
| a store or role does not start | the end of its log is shown |
| the language model that is named does not answer | `up` starts all the same, turns wait, `nextlevel doctor` tells |
"""


def page() -> str:
    rows = [
        (
            f"`{error.__name__}`",
            _branch(error),
            (inspect.getdoc(error) or "").partition("\n")[0],
            _exit(error),
            _http(error),
        )
        for error in _leaves(errors.NextLevelError)
    ]
    columns = ("error", "branch", "means", "exit code", "HTTP")
    return PRINTED + _HEAD + table(columns, rows) + "\n" + _STARTING


def _leaves(root: type[errors.NextLevelError]) -> Iterator[type[errors.NextLevelError]]:
    for child in root.__subclasses__():
        if child.__module__ != errors.__name__:  # a room's own, which leaves it as something else
            continue
        if child.__subclasses__() and child in {errors.Transient, errors.Permanent}:
            yield from _leaves(child)
        else:
            yield child


def _branch(error: type[errors.NextLevelError]) -> str:
    return "transient" if issubclass(error, errors.Transient) else "permanent"


def _exit(error: type[errors.NextLevelError]) -> str:
    return str(exit_code(error.__new__(error)))


def _http(error: type[errors.NextLevelError]) -> str:
    found = [f"{status} `{code}`" for kind, status, code in STATUS if issubclass(error, kind)]
    return found[0] if found else "–"
