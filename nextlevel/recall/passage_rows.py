"""The arrays of a passage index: a row a passage, growing; vectors in half precision, and their signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nextlevel.inference import Vector

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

_NEIGHBOURLESS = -1
_SAMPLED = 500


class PassageRows:
    """One value a row: whether it is used and has a vector, its length in words, its day, its neighbours' rows."""

    def __init__(self, dimension: int) -> None:
        self.count = 0
        self.alive = np.zeros(16, dtype=bool)
        self.compared = np.zeros(16, dtype=bool)
        self.weak = np.zeros(16, dtype=bool)
        self.length = np.zeros(16, dtype=np.float32)
        self.day = np.zeros(16, dtype=np.int32)
        self.before = np.full(16, _NEIGHBOURLESS, dtype=np.int32)
        self.after = np.full(16, _NEIGHBOURLESS, dtype=np.int32)
        self.vectors = np.zeros((16, dimension), dtype=np.float16)
        self._centre: Vector = np.zeros(dimension, dtype=np.float32)
        self._codes: npt.NDArray[np.uint64] | None = None
        self._sample: npt.NDArray[np.float32] = np.zeros((0, dimension), dtype=np.float32)

    def add(self) -> int:
        """A new row, used from now on."""
        row = self.count
        if row == len(self.alive):
            for name in ("alive", "compared", "weak", "length", "day", "before", "after", "vectors"):
                held: npt.NDArray[Any] = getattr(self, name)
                setattr(self, name, np.concatenate([held, np.zeros_like(held)]))
        self.count += 1
        self.alive[row] = True
        self.before[row] = self.after[row] = _NEIGHBOURLESS
        return row

    def used(self) -> Rows:
        return np.flatnonzero(self.alive[: self.count])

    def with_vector(self) -> Rows:
        return np.flatnonzero(self.compared[: self.count])

    def code(self) -> None:
        """Take the signs of all vectors about their centre, and a sample; until the next time newer rows have none."""
        rows = self.vectors[: self.count].astype(np.float32)
        compared = self.with_vector()
        self._centre = rows[compared].mean(axis=0)
        self._codes = self._signs(rows)
        self._sample = rows[compared[:: 1 + len(compared) // _SAMPLED]]

    def sampled(self, vector: Vector) -> Floats:
        """The cosines of some hundred rows: how those of all lie."""
        return (self._sample @ vector).astype(np.float64)

    def alike(self, vector: Vector, most: int) -> Rows | None:
        """The rows whose signs differ least from a vector's; None where no signs were taken."""
        if self._codes is None:
            return None
        differing = np.bitwise_count(self._codes ^ self._signs(vector[None, :])).sum(axis=1, dtype=np.int32)
        differing[~self.compared[: len(differing)]] = np.iinfo(np.int32).max
        return np.argpartition(differing, min(most, len(differing) - 1))[:most]

    def cosines(self, rows: Rows, vector: Vector) -> Floats:
        return (self.vectors[rows].astype(np.float32) @ vector).astype(np.float64)

    def of_turn_before(self, values: Floats) -> Floats:
        """For each row the value of the turn before it in its session, 0 where there is none."""
        return _taken(values, self.before[: self.count])

    def of_turn_after(self, values: Floats) -> Floats:
        return _taken(values, self.after[: self.count])

    def beside(self, rows: Rows) -> Rows:
        """The rows of the turns just before and after these."""
        found = np.concatenate([self.before[rows], self.after[rows]])
        return found[found >= 0].astype(np.intp)

    def _signs(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.uint64]:
        bits = np.packbits(rows > self._centre, axis=1)
        padded = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
        padded[:, : bits.shape[1]] = bits
        return padded.view(np.uint64)


def _taken(values: Floats, places: npt.NDArray[np.int32]) -> Floats:
    return np.where(places >= 0, values[places], 0.0)
