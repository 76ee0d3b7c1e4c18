"""The arrays of a hot scope: a row a block, growing; from when and until when each holds."""

from __future__ import annotations

from array import array
from datetime import datetime

import numpy as np
import numpy.typing as npt

from nextlevel.store.search import Found

Rows = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]


class BlockRows:
    """One value a row: whether it is used, `since` when its block holds and until when, in seconds since 1970."""

    def __init__(self) -> None:
        self._count = 0
        self._alive = np.zeros(16, dtype=bool)
        self._until = np.zeros(16)
        self.since = np.zeros(16)

    def add(self, found: Found) -> int:
        """A new row, used from now on."""
        row = self._count
        if row == len(self._alive):
            self._alive, self._until, self.since = (
                np.concatenate([held, np.zeros_like(held)]) for held in (self._alive, self._until, self.since)
            )
        ends = found.expires_at if found.block.valid_to is None else min(found.expires_at, found.block.valid_to)
        self._alive[row], self._until[row], self.since[row] = True, ends.timestamp(), found.block.valid_from.timestamp()
        self._count += 1
        return row

    def remove(self, row: int) -> None:
        self._alive[row] = False

    def used(self, listed: array[int]) -> Rows:
        """Those of the listed rows that are used, in their order."""
        rows = np.frombuffer(listed, dtype=np.int32).astype(np.intp)
        return rows[self._alive[rows]]

    def holding(self, rows: Rows, now: datetime) -> Rows:
        """Those of these rows that still hold: what ends by itself raises no generation."""
        return rows[self._until[rows] > now.timestamp()]

    def first(self, rows: Rows, values: Floats, limit: int) -> Rows:
        """The rows with the highest values, highest first; of equals the one that came first."""
        if len(rows) > limit:
            least = np.partition(values, -limit)[-limit]
            rows, values = rows[values >= least], values[values >= least]
        return rows[np.argsort(-values, kind="stable")[:limit]]
