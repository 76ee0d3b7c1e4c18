"""From text to the numbers of its pieces, as SentencePiece's unigram model cuts it (Kudo 2018, arXiv:1804.10959)."""

from __future__ import annotations

import re

from .weights import Pieces

_SPACES = re.compile(" {2,}")
_SPACE = "▁"
_UNKNOWN = 10.0  # an unknown character is so much less likely than the least likely piece


class Tokenizer:
    """Cuts a text into the most likely pieces."""

    def __init__(self, pieces: Pieces) -> None:
        self._numbers = dict(zip(pieces.texts, range(len(pieces.texts)), strict=True))
        del self._numbers[pieces.texts[pieces.unknown]]
        self._scores: list[float] = pieces.scores.tolist()
        self._normalised = pieces.normalised
        self._longest = max(map(len, self._numbers))
        self._unknown, self._unknown_score = pieces.unknown, min(self._scores) - _UNKNOWN

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text, without those that mark its ends."""
        text = _SPACES.sub(" ", text.translate(self._normalised)).replace(" ", _SPACE)
        return self._cut(text if text.startswith(_SPACE) else _SPACE + text)

    def _cut(self, text: str) -> list[int]:
        """Viterbi: the best way to each place, by the piece that ends there."""
        score = [0.0] + [-1e30] * len(text)
        piece, start = [0] * (len(text) + 1), [0] * (len(text) + 1)
        for here, best in enumerate(score[:-1]):
            best = score[here]
            for end in range(here + 1, min(here + self._longest, len(text)) + 1):
                number = self._numbers.get(text[here:end])
                if number is not None and best + self._scores[number] > score[end]:
                    score[end], piece[end], start[end] = best + self._scores[number], number, here
            if best + self._unknown_score > score[here + 1]:
                score[here + 1], piece[here + 1], start[here + 1] = best + self._unknown_score, self._unknown, here
        found, end = [], len(text)
        while end > 0:
            found.append(piece[end])
            end = start[end]
        return found[::-1]
