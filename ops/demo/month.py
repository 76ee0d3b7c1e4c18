"""The month that is played and the questions asked afterwards, as told in examples/."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nextlevel.errors import Misconfigured

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Line:
    """One turn to be told. `occurrence` counts from 0 how often its pair of texts came before in its session."""

    session: str
    at: str
    cwd: str
    user: str
    assistant: str
    tools: tuple[dict[str, Any], ...]
    occurrence: int


@dataclass(frozen=True, slots=True)
class Probe:
    """A question whose answer the month fixes: words that recall must give, or None where it must give nothing."""

    query: str
    expect: tuple[str, ...] | None
    why: str
    as_of: str | None = None
    show: bool = False

    def passes(self, context: str) -> bool:
        """True if the context holds every expected word, or is empty where nothing is expected."""
        if self.expect is None:
            return not context
        return all(word.casefold() in context.casefold() for word in self.expect)


def lines(folder: Path = EXAMPLES) -> list[Line]:
    """The turns of month.jsonl in their order.

    Raises:
        Misconfigured: there is no such file; it comes with the source, not with the installed package.
    """
    told: Counter[tuple[str, str, str]] = Counter()
    found = []
    for row in map(json.loads, _read(folder / "month.jsonl").splitlines()):
        pair = (row["session"], row["user"], row["assistant"])
        tools = tuple(row.get("tools", ()))
        found.append(Line(pair[0], row["at"], row["cwd"], pair[1], pair[2], tools, told[pair]))
        told[pair] += 1
    return found


def probes(folder: Path = EXAMPLES) -> list[Probe]:
    """The questions of month.probes.json.

    Raises:
        Misconfigured: there is no such file.
    """
    return [
        Probe(
            query=row["query"],
            expect=None if row.get("abstain") else tuple(row["expect"]),
            why=row["why"],
            as_of=row.get("as_of"),
            show=row.get("show", False),
        )
        for row in json.loads(_read(folder / "month.probes.json"))
    ]


def sessions(month: Sequence[Line]) -> list[str]:
    return list(dict.fromkeys(line.session for line in month))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Misconfigured(f"there is no {path}: the demo is played from a checkout of the source") from None
