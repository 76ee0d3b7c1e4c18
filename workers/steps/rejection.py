"""Does the user reject what was done in the turn before? Then what was learnt from it is taken back.

What the agent did for the user counts as accepted unless the next turn says otherwise: "no, that's wrong", "undo
that", "das hat nicht geklappt". Cues stand in rejection.toml; each must open one of the first clauses, so that "if that
is wrong, tell me" and a quotation reject nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from nextlevel.lang.normal import clauses
from nextlevel.model import Turn

_LONGEST = 400
_FIRST_CLAUSES = 3


def rejected(turn: Turn, window: Sequence[Turn]) -> str | None:
    """The id of the turn before, where this one rejects what was done there. `window` is oldest first."""
    return window[-1].id if window and _rejects(turn.user_text) else None


def only_rejects(text: str) -> bool:
    """Whether these words say nothing else than that something was not wanted: no fact, then, and no wish."""
    return all((cue := _cues().match(part)) and len(part[cue.end() :].split()) < 3 for part in _comma_parts(text))


def _rejects(text: str) -> bool:
    opening = clauses(text.strip()[:_LONGEST])[:_FIRST_CLAUSES]
    # A comma parts "no" from what is wrong; "if", "wenn" and the like stand before a comma and make it no rejection.
    starts = [part for each in opening if each.kind == "prose" for part in _parts(each.text)]
    return any(_cues().match(part) for part in starts)


def _parts(text: str) -> list[str]:
    return [] if _condition().match(text) else [text, *_comma_parts(text)[1:]]


def _comma_parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


@cache
def _cues() -> re.Pattern[str]:
    rows = _table()
    cues = [cue for language, row in rows.items() for cue in row["rejects"]]
    leads = "|".join(lead for row in rows.values() for lead in row["leads"])
    return re.compile(rf"(?:(?:{leads})(?:[\s,.!:;–-]+|(?<=[。，、！])))*(?:{'|'.join(cues)})", re.IGNORECASE)


@cache
def _condition() -> re.Pattern[str]:
    return re.compile(
        "(?:" + "|".join(word for row in _table().values() for word in row["conditions"]) + r")\b", re.IGNORECASE
    )


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_name("rejection.toml").read_text("utf-8"))
