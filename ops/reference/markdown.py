"""A table, and what may stand in its cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PRINTED = "<!-- Printed from the code by `make fix`; edit the code. -->\n"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A Markdown table; a bar inside a cell does not end it.

    >>> print(table(("a", "b"), [("x|y", "z")]))
    | a | b |
    |---|---|
    | x\|y | z |
    """
    lines = [columns, *rows]
    shown = ["| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in line) + " |" for line in lines]
    return "\n".join([shown[0], "|---" * len(columns) + "|", *shown[1:]])
