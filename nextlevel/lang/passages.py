"""How a past turn is read, to be found again: its words, what is embedded of it, who speaks in it."""

from __future__ import annotations

import re
from datetime import datetime

from .normal import normal_name
from .roots import roots
from .tokens import words

SIDE_CHARS = 1_000
"""Characters of each side's text that are searched: what follows in a longer one is mostly pasted."""

_SAID_CHARS, _ANSWERED_CHARS = 500, 300  # of the embedded text: its cost grows faster than its length
_FEW_WORDS = 3
_LABEL = re.compile(r"\s*([^\W\d_][\w .'’-]{0,39}?):\s")
_NOT_SPEAKERS = frozenset(
    {"note", "ps", "hint", "error", "warning", "todo", "fyi", "edit", "hinweis", "achtung", "uwaga"}
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def search_words(said: str, answered: str, at: datetime) -> list[str]:
    """What a turn is found by: the roots of all that was said, and of the day it was said on."""
    return roots(words(f"{said}\n{answered}\n{at.day} {_MONTHS[at.month - 1]} {at.year}"))


def gist(said: str, answered: str) -> str:
    """What is embedded: the head of each side."""
    return f"{said[:_SAID_CHARS]}\n{answered[:_ANSWERED_CHARS]}".strip()


def speaker(said: str) -> str:
    """Who speaks, in normal form, where the text says so ("Flo: the port is …"); else an empty string.

    >>> speaker("Flo: the port is 8080"), speaker("the port: 8080"), speaker("see http://x")
    ('flo', '', '')
    """
    label = _LABEL.match(said)
    if label is None or not label[1][0].isupper() or len(label[1].split()) > 3:
        return ""
    name = normal_name(label[1])
    return "" if name in _NOT_SPEAKERS else name


def is_weak(said: str) -> bool:
    """True for a bare question, and for three words or less: they share words with a question and seldom answer it.

    >>> is_weak("Which port?"), is_weak("ok, thanks"), is_weak("It runs on 8080. Is that right?")
    (True, True, False)
    """
    text = said.rstrip()
    return (text.endswith(("?", "？")) and not re.search(r"[.!。]\s", text)) or len(words(text)) <= _FEW_WORDS
