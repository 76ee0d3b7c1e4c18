"""How results are shown. What was remembered is foreign text: it neither steers the terminal nor is it markup."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def console() -> Console:
    """Standard output, on which text stands as it is."""
    return Console(markup=False, highlight=False)


def printable(text: object) -> str:
    """Control characters replaced.

    >>> printable("a\\x1b[2Jb")
    'a�[2Jb'
    """
    return "".join(each if each.isprintable() else "\ufffd" for each in str(text))


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """Plain columns, two spaces apart."""
    made = Table(*columns, box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        made.add_row(*(printable(cell) for cell in row))
    return made


def facts(found: Mapping[str, Any]) -> str:
    """`name=value` pairs, numbers rounded."""
    return " ".join(f"{name}={_rounded(value)}" for name, value in found.items())


def _rounded(value: object) -> object:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return format(value, ".2f") if isinstance(value, float) else value
