"""Labelled sessions, and how well what was remembered of them fits: a small scorer, for tests and for the bench.

A session has turns, `gold` (what should be kept; `must` counts for recall, `may` is right and not asked for) and `not`
(what must not be). A gold or a trap is met by a block whose text hits each of its groups of alternatives.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[1] / "data" / "extraction"
LANGUAGES = ("en", "de", "sv", "pl", "cjk")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_NEGATION = re.compile(
    r"n['’]t\b|\b(?:not?|never|without|avoid|nicht|nie|niemals|kein\w*|ohne|inte|aldrig|utan|ing(?:a|en|et)|nigdy|bez)\b"
    r"|[不别勿没]|ない|ません"
)
_CREDITS = 2
"""Golds that one block may answer for: a sentence that holds five is a dump, not a memory."""


@dataclass(slots=True)
class Figures:
    """Shares are 0..1. `verdicts` holds each active block with "right", "again", or why it is wrong."""

    must: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    types: list[bool] = field(default_factory=list)
    dates: list[bool] = field(default_factory=list)
    verdicts: list[tuple[Row, str]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    leaks: int = 0
    invisible: int = 0

    @property
    def recall(self) -> float:
        return self.hit.total() / max(1, self.must.total())

    @property
    def precision(self) -> float:
        kinds = Counter(
            "right" if why == "right" else "again" if why == "again" else "wrong" for _, why in self.verdicts
        )
        return kinds["right"] / max(1, kinds["right"] + kinds["wrong"])

    @property
    def type_accuracy(self) -> float:
        return sum(self.types) / max(1, len(self.types))

    @property
    def date_accuracy(self) -> float:
        return sum(self.dates) / max(1, len(self.dates))


def sessions(name: str, languages: Sequence[str] = LANGUAGES) -> list[Row]:
    """Our own sessions: `tuned`, which the rules were made with, or `unseen`, which they were not."""
    paths = [FOLDER / f"{name}_{language}.jsonl" for language in languages]
    return [row for path in paths for row in read(path)]


def read(path: Path) -> list[Row]:
    """The sessions of one file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def score(labelled: Iterable[Row], rows: Sequence[Row]) -> Figures:
    """What the rows (as `nextlevel eval` writes them) are worth against the labels."""
    figures = Figures()
    for session in labelled:
        _judge(session, [row for row in rows if row["session"] == session["id"]], figures)
    figures.invisible = sum(_INVISIBLE.search(json.dumps(row, ensure_ascii=False)) is not None for row in rows)
    return figures


def _judge(session: Row, rows: list[Row], figures: Figures) -> None:
    credited: dict[str, Row] = {}
    kept = [row for row in rows if row.get("status", "active") in ("active", "superseded", "expired")]
    fits = {id(row): [gold for gold in session["gold"] if _fits(gold, row)] for row in kept}
    for row in sorted(kept, key=lambda row: len(fits[id(row)])):  # a broad block takes what the narrow ones leave
        trap = next((trap for trap in session["not"] if _trapped(trap, row)), None)
        fresh = [gold for gold in fits[id(row)] if gold["id"] not in credited and trap is None]
        fresh.sort(key=lambda gold: (not _hits(gold["match"], _said(row)), gold["level"] != "must"))
        credited |= {gold["id"]: row for gold in fresh[:_CREDITS]}
        if row.get("status", "active") == "active":
            verdict = (
                trap["why"].split(":")[0] if trap else "right" if fresh else "again" if fits[id(row)] else "unasked"
            )
            figures.verdicts.append((row, verdict))
    for gold in session["gold"]:
        figures.must[session["lang"]] += gold["level"] == "must"
        if (row := credited.get(gold["id"])) is None:
            if gold["level"] == "must":
                figures.missed.append(
                    f"{session['id']}/{gold['id']} {gold['subject']} {gold['predicate']} {gold['object']}"
                )
            continue
        figures.hit[session["lang"]] += gold["level"] == "must"
        figures.types.append(row["type"] in (gold["type"], *gold["types_ok"]))
        for bound in ("valid_from", "valid_to"):
            if gold[bound]:
                figures.dates.append(_near(gold[bound], row.get(bound)))
    secrets = [group for trap in session["not"] if trap["why"].startswith("secret") for group in trap["match"]]
    figures.leaks += sum(any(_hits([group], _folded(json.dumps(row))) for group in secrets) for row in rows)


def _fits(gold: Row, row: Row) -> bool:
    turns = (gold["turn"], *gold.get("turns_ok", ()))
    text = f"{_said(row)} {_folded(row.get('context') or '')}"
    if not any(abs(row["turn"] - turn) <= 1 for turn in turns) or not _hits(gold["match"], text):
        return False
    return gold["polarity"] == "+" or row.get("polarity") == "-" or _NEGATION.search(text) is not None


def _trapped(trap: Row, row: Row) -> bool:
    return _hits(trap["match"], _said(row)) and not _hits([trap.get("unless", [])], _said(row))


def _hits(groups: list[list[str]], text: str) -> bool:
    return bool(groups) and all(any(_stands(each, text) for each in group) for group in groups)


def _stands(wanted: str, text: str) -> bool:
    """Whether one alternative stands in a folded text; one that begins with `re:` is an expression."""
    return (
        re.search(wanted[3:], text, re.IGNORECASE) is not None if wanted.startswith("re:") else _folded(wanted) in text
    )


def _said(row: Row) -> str:
    return _folded(" ".join(str(row.get(part) or "") for part in ("subject", "predicate", "object", "key", "value")))


def _folded(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold().split())


def _near(wanted: str, got: str | None) -> bool:
    return got is not None and abs((date.fromisoformat(wanted) - date.fromisoformat(got)).days) <= 1
