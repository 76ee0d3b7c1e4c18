"""What an embedder is, to those who use one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]
"""One row of `dimension` numbers, of unit length: the dot product of two is their cosine."""

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Rows of unit length, one a text."""

USUAL = 0.74
"""The packaged model's cosine between a question and what has nothing to do with it."""

MAX_CHARS = 1_500
"""A text is cut to so many characters: one of 20,000 took the packaged engine 33 s."""


@dataclass(frozen=True, slots=True)
class Measures:
    """How many numbers a model's vectors have, and how its cosines lie beside those of the packaged model.

    `usual` is its cosine between a question and what has nothing to do with it; `times` how much further from that the
    packaged model puts an answer. Recall's thresholds were found with the packaged model.
    """

    dimension: int
    usual: float
    times: float

    def read(self, cosine: float) -> float:
        """A cosine as the packaged model would have given it.

        >>> Measures(1024, usual=0.30, times=0.25).read(0.70)
        0.84
        """
        return USUAL + (cosine - self.usual) * self.times


class Embedder(Protocol):
    """Turns texts into vectors. Any text may be given: what the model can't read is cleaned, what is too long is cut.

    `model` names the weights and is stored beside each vector: vectors of two models are never compared. `measures` are
    None until somebody has taken them; from then on vectors of another dimension are refused.
    """

    model: str
    measures: Measures | None

    async def passages(self, texts: Sequence[str]) -> Vectors:
        """A row for each text that is to be found.

        Raises:
            EmbedderUnavailable: no vectors can be had now.
        """
        ...

    async def query(self, text: str) -> Vector:
        """The row of a text that asks. It goes before waiting passages; if the caller gives up first, it is not run.

        Raises:
            EmbedderUnavailable: no vector can be had now.
        """
        ...

    async def close(self) -> None: ...


def readable(text: str) -> str:
    """The part of a text that a model can take: engines lose what follows a NUL, and refuse a lone surrogate."""
    return text[:MAX_CHARS].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
