"""Lines of data that somebody pasted: a log, a table, a statement of account. Nobody says them."""

from __future__ import annotations

import re

DATA_LINE = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d|\d\d\.\d\d\.(?:\d{4})?\s|\d+\s*[|\t]|"
    r"at\s\S+\(|Traceback|File \"|[A-Z_]{4,}=|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d\d?\s\d)"
)
_FEWEST_DATA_LINES = 3


def without_dump(text: str) -> tuple[str, str]:
    """The text without pasted lines of data (a log, a table, a statement of account), and those lines."""
    lines = text.split("\n")
    data = [line for line in lines if DATA_LINE.match(line)]
    if len(data) < _FEWEST_DATA_LINES:
        return text, ""
    return "\n".join(line for line in lines if not DATA_LINE.match(line)), "\n".join(data)
