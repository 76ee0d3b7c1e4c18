"""Which language a text is in, by its script, its letters and its function words."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from .tokens import fold, stop_words

_LONGEST = 4_000
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]+")
# Letters that only one of the four Latin languages uses; ä and ö are shared by two, and speak for neither.
_LATIN = ("en", "de", "sv", "pl")
_OWN = {"de": frozenset("ßü"), "sv": frozenset("å"), "pl": frozenset("ąćęłńśźż")}
_LEAD = 0.5
_CERTAIN_LEAD = 1.0
"""Points by which a language is ahead: of what is expected, or beyond doubt. One function word is one point."""


def language(text: str, otherwise: str = "en") -> str:
    """`en`, `de`, `sv`, `pl`, `zh` or `ja`; `otherwise` where nothing tells, or too little.

    A text in two languages counts as the one that has more function words; a near tie keeps `otherwise`.
    """
    spoken, most, points = _heard(text[:_LONGEST])
    if spoken is None:
        return otherwise
    return otherwise if otherwise in points and most - points[otherwise] < _LEAD else spoken


def certain(text: str, *, lead: float = _CERTAIN_LEAD) -> str | None:
    """The language that is ahead of the others by more than `lead` points, or None: then the surroundings decide."""
    spoken, most, points = _heard(text[:_LONGEST])
    second = max((amount for each, amount in points.items() if each != spoken), default=0.0)
    return spoken if spoken is not None and most - second > lead else None


def forget() -> None:
    """Empty what was heard: for a measurement that must not profit from the one before."""
    _heard.cache_clear()


@lru_cache(maxsize=1024)
def _heard(text: str) -> tuple[str | None, float, dict[str, float]]:
    """The language that has most points, its points, and those of each Latin one that has some."""
    if not text.isascii():
        letters = sum(c.isalpha() for c in text) or 1
        kana, han = len(_KANA.findall(text)), len(_HAN.findall(text))
        if kana and (kana + han) / letters > 0.1:
            return "ja", float(kana + han), {}
        if han / letters > 0.1:
            return "zh", float(han), {}
    runs = _LETTERS.findall(text)
    folded = [fold(run) for run in runs]
    points = {each: sum(_weights(each).get(word, 0.0) for word in folded) for each in _LATIN}
    if not text.isascii():
        for run in runs:
            small = run.lower()
            for each, own in _OWN.items():
                points[each] += not own.isdisjoint(small)
    best = max(points, key=lambda each: points[each])
    return (best if points[best] > 0 else None), points[best], points


@cache
def _weights(language: str) -> dict[str, float]:
    """How much a function word speaks for a language: less where another has it too ("we" is English and Polish)."""
    return {word: 1 / sum(word in stop_words(each) for each in _LATIN) for word in stop_words(language)}
