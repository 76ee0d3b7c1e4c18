"""Which language a text is in, by its script and its function words."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from .tokens import fold, stop_words

_LONGEST = 4_000
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]+")
# Letters that only one of the four Latin languages uses. ä and ö are shared by two.
_LATIN = ("en", "de", "sv", "pl")
_OWN = {"de": frozenset("ßü"), "sv": frozenset("å"), "pl": frozenset("ąćęłńśźż")}


@lru_cache(maxsize=512)
def language(text: str, otherwise: str = "en") -> str:
    """`en`, `de`, `sv`, `pl`, `zh` or `ja`; `otherwise` where nothing tells, or too little.

    A text in two languages counts as the one that has more function words; a tie keeps `otherwise`.
    """
    text = text[:_LONGEST]
    if not text.isascii():
        letters = sum(c.isalpha() for c in text) or 1
        if len(_KANA.findall(text)) / letters > 0.1:
            return "ja"
        if len(_HAN.findall(text)) / letters > 0.2:
            return "zh"
    folded = [fold(run) for run in _LETTERS.findall(text)]
    points = {each: sum(_weights(each).get(word, 0.0) for word in folded) for each in _LATIN}
    if not text.isascii():
        for run in _LETTERS.findall(text.lower()):
            for each, own in _OWN.items():
                points[each] += not own.isdisjoint(run)
    if otherwise in points:
        points[otherwise] += 0.5
    best = max(points, key=lambda each: points[each])
    return best if points[best] > 0 else otherwise


@cache
def _weights(language: str) -> dict[str, float]:
    """How much a function word speaks for a language: less where another has it too ("we" is English and Polish)."""
    return {word: 1 / sum(word in stop_words(each) for each in _LATIN) for word in stop_words(language)}
