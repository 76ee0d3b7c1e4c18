"""Which language a turn and its sentences are in, and whether a story is being told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nextlevel.lang import detect
from nextlevel.model import Turn

from .pack import Pack, load, packs
from .pieces import speaks

_ENOUGH_WORDS = 5
_LOOK_BACK = 3
_LONGEST = 500
_SENTENCE_END = re.compile(r"[.!?\n,]\s+")


def language_of(text: str, window: Sequence[Turn]) -> str:
    """The turn's language; a short turn speaks that of its session."""
    if len(text.split()) < _ENOUGH_WORDS and window and detect.certain(text) is None:
        text = " ".join([*(turn.user_text[:_LONGEST] for turn in window[-_LOOK_BACK:]), text])
    return detect.language(text)


def languages_of(text: str, language: str, window: Sequence[Turn]) -> frozenset[str]:
    """The languages that the user speaks in this session: whoever mixes them does so inside a sentence too."""
    told = [turn.user_text[:_LONGEST] for turn in window[-_LOOK_BACK:]]
    sure = (detect.certain(sentence) for each in (*told, text) for sentence in _SENTENCE_END.split(each[:_LONGEST]))
    return frozenset({language, *(each for each in sure if each is not None)})


def pack_of(text: str, language: str) -> Pack | None:
    """The pack for one sentence: people mix languages, so a sentence whose words tell chooses its own."""
    if (spoken := detect.certain(text)) is not None:
        return load(spoken)
    pack = load(language)
    if pack is None or speaks(text, pack) or detect.certain(text, lead=0.5) == language:
        return pack
    # No function word speaks for the turn's language; then a verb tells, else the turn.
    return next((other for other in packs() if speaks(text, other)), pack)


def in_fiction(window: Sequence[Turn]) -> bool:
    """Whether the session is in a story that nobody has ended."""
    for turn in reversed(window):
        pack = load(detect.language(turn.user_text))
        if pack is not None and pack.has("fiction_end", turn.user_text):
            return False
        if pack is not None and pack.has("fiction_start", turn.user_text):
            return True
    return False
