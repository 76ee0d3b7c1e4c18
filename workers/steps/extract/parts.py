"""A turn as a language model is shown it: whole where it fits, else in parts that overlap, each for a call of its own.

A part begins and ends with a sentence, or at least with a word: half a number would be read as another number, and
what follows a "never" as its opposite. Of a text for which the parts do not suffice, the last one shows the end, since
what a paste is for often stands below it; how much was left out between, `cut` tells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from nextlevel.lang.tokens import estimate_tokens
from nextlevel.model import Turn
from nextlevel.safety.redact import redact

USER_TOKENS, ASSISTANT_TOKENS = 1_700, 300
"""What one call shows of a turn. The assistant's words stand in the last part: it answered the whole."""
MOST_PARTS = 4
_OVERLAP_TOKENS = 150
_HEAD_CHARS, _TAIL_CHARS = 65_536, 16_384
"""More of a text than any part can reach."""
_BREAKS = (re.compile(r"\n+|(?<=[.!?])\s+|(?<=[。！？])"), re.compile(r"\s+"))


@dataclass(frozen=True, slots=True)
class Part:
    """What one call shows of a turn; part `number` of `of`."""

    at: datetime
    user: str
    assistant: str = ""
    number: int = 1
    of: int = 1


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn in parts. `user` and `assistant` are all that they show, `cut` how many characters of either none does."""

    parts: tuple[Part, ...]
    user: str
    assistant: str
    cut: dict[str, int]


def shown(turn: Turn) -> Shown:
    """The parts of a turn, at most four. Secrets go first: of a key that a cut has halved no pattern sees anything."""
    text, between = _reachable(turn.user_text)
    pieces, cut = _pieces(text)
    said = "\n".join(text[start:end] for start, end in _joined(pieces))
    answer = redact(turn.assistant_text[:_HEAD_CHARS]).text
    answered = head(answer, ASSISTANT_TOKENS)
    left_out = {
        "user": cut + between,
        "assistant": len(answer) - len(answered) + len(turn.assistant_text[_HEAD_CHARS:]),
    }
    last = len(pieces)
    return Shown(
        tuple(
            Part(turn.at, text[start:end], answered if number == last else "", number, last)
            for number, (start, end) in enumerate(pieces, 1)
        ),
        said,
        answered,
        {whose: chars for whose, chars in left_out.items() if chars},
    )


def head(text: str, tokens: int) -> str:
    """The beginning of a text that has at most about so many tokens."""
    text = text[: 4 * tokens]
    while (count := estimate_tokens(text)) > tokens:
        text = text[: len(text) * tokens // count]
    return text


def _tail(text: str, tokens: int) -> str:
    return head(text[-4 * tokens :][::-1], tokens)[::-1]


def _reachable(text: str) -> tuple[str, int]:
    """A text without its secrets and, if it is huge, without its middle; and how many characters that had."""
    between = len(text) - _HEAD_CHARS - _TAIL_CHARS
    if between <= 0:
        return redact(text).text, 0
    return f"{redact(text[:_HEAD_CHARS]).text}\n{redact(text[-_TAIL_CHARS:]).text}", between


def _pieces(text: str) -> tuple[list[tuple[int, int]], int]:
    """Where the parts of a text begin and end, in order, and how many characters are in none of them."""
    pieces: list[tuple[int, int]] = []
    start, end = 0, -1
    while end < len(text) and len(pieces) < MOST_PARTS:
        end = start + len(head(text[start:], USER_TOKENS))
        overlap = (end - start) * _OVERLAP_TOKENS // USER_TOKENS
        if end < len(text):
            end = _breaks(text, end - overlap, end)[-1]
        pieces.append((start, end))
        start = _breaks(text, end - overlap, end)[0]
    if end == len(text):
        return pieces, 0
    size = len(_tail(text, USER_TOKENS))
    begin = _breaks(text, len(text) - size, len(text) - size + size * _OVERLAP_TOKENS // USER_TOKENS)[0]
    pieces[-1] = (begin, len(text))
    return pieces, max(0, begin - pieces[-2][1])


def _breaks(text: str, start: int, end: int) -> list[int]:
    """Where a stretch of text may be cut: after sentences, else after words, else at its end."""
    for pattern in _BREAKS:
        if found := [match.end() for match in pattern.finditer(text, start, end)]:
            return found
    return [end]


def _joined(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pieces with what overlaps joined: all that is shown, once."""
    joined = pieces[:1]
    for start, end in pieces[1:]:
        if start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
