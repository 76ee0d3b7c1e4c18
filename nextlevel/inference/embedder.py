"""What an embedder is, to those who use one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]
"""One row of `dimension` numbers, of unit length: the dot product of two is their cosine."""

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Rows of unit length, one a text."""


class Embedder(Protocol):
    """Turns texts into vectors. Any text may be given: what the model can't read is cleaned, what is too long is cut.

    `model` names the weights and is stored beside each vector: vectors of two models are never compared.
    """

    model: str
    dimension: int

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
