"""Which language a text is in, by its script and its function words."""

from __future__ import annotations

import re

from .tokens import fold, stop_words

_LONGEST = 4_000
_KANA = re.compile(r"[\u3040-\u30ff]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LETTERS = re.compile(r"[^\W\d_]+")
# Letters that only one of the four Latin languages uses. ä and ö are shared by two.
_OWN = {"de": "ß", "sv": "å", "pl": "ąćęłńśźż"}


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
    runs = [run.casefold() for run in _LETTERS.findall(text)]
    folded = [fold(run) for run in runs]
    points = dict.fromkeys(("en", "de", "sv", "pl"), 0.0)
    for each in points:
        points[each] += sum(word in stop_words(each) for word in folded)
    for each, own in _OWN.items():
        points[each] += sum(any(c in own for c in run) for run in runs)
    if any("ü" in run for run in runs):
        points["de"] += 1
    if otherwise in points:
        points[otherwise] += 0.5
    best = max(points, key=lambda each: points[each])
    return best if points[best] > 0 else otherwise
