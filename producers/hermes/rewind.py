"""Turns that the host took back: /undo, /retry, an edited message. Most hosts don't tell; the conversation shows it.

After each turn its end is marked. Where the next turn does not follow that mark, what stands before it is compared with
tier 2. Nothing is concluded in doubt: a compacted conversation, or one whose last answer we don't know, proves nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nextlevel.producers.shortterm.search import Found

from .turns import text_of

LOOK_BACK = 20
"""Turns that may be taken back at once; of more, the oldest stay."""

_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT")
_PLACEHOLDER = re.compile(r"\[redacted:[^\]\n]*\]|\n")

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Mark:
    """How long a conversation was, and a hash of its last message."""

    length: int
    last: bytes

    def precedes(self, messages: Rows) -> bool:
        """True if the conversation only grew since."""
        return len(messages) > self.length and _digest(messages[self.length - 1]) == self.last


def mark(messages: Rows) -> Mark | None:
    return Mark(len(messages), _digest(messages[-1])) if messages else None


def undone(turns: Sequence[Found], before: Rows, current: Mapping[str, Any], *, told: bool) -> list[str]:
    """The ids, in order, of turns of tier 2, given newest first, that are gone from before the current turn.

    `current` is the message that began it. `told` says that the host announced it: then an empty conversation means
    that all were taken back.
    """
    place, said, answered = _last_exchange(before)
    if not answered:
        return [turn.id for turn in reversed(turns)] if told and not before else []
    # What a summary replaced is not undone. It may stand as a message of its own, or be merged into one behind it.
    if any(summary in text_of(row.get("content")) for row in (*before[place:], current) for summary in _SUMMARIES):
        return []
    for newer, turn in enumerate(turns):
        if _holds(said, turn.user_text) and _holds(answered, turn.assistant_text):
            return [each.id for each in reversed(turns[:newer])]
    return []


def _last_exchange(rows: Rows) -> tuple[int, str, str]:
    """Place and words of the last question that was answered, and the answer; a failed turn has only its question."""
    answered: list[str] = []
    for place in range(len(rows) - 1, -1, -1):
        row = rows[place]
        text = text_of(row.get("content"))
        if row.get("role") == "assistant" and text:
            answered.insert(0, text)
        elif row.get("role") == "user" and answered:
            return place, text, "\n".join(answered)
    return 0, "", ""


def _holds(text: str, kept: str) -> bool:
    """True if what tier 2 keeps of a text, without secrets and our own lines, was made of this one."""
    longest = max((piece.strip() for piece in _PLACEHOLDER.split(kept)), key=len)
    return bool(longest) and longest in text


def _digest(row: Mapping[str, Any]) -> bytes:
    return hashlib.sha256(text_of(row.get("content")).encode("utf-8", "surrogatepass")).digest()[:16]
