"""After a few failures in a row a dead server is left alone for a while, so that it costs nothing per turn."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_FAILED, _LATE = 3, 1


class Breaker:
    """Open after `failures` in a row, for `open_s` seconds; then one caller may try, and its outcome decides.

    A late answer counts for a third: a busy server is alive, and soon worth its wait again, while who gives up on
    it for seconds gets worse answers for nothing.
    """

    def __init__(self, *, failures: int = 3, open_s: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._open_s, self._clock = failures * _FAILED, open_s, clock
        self._lock = threading.Lock()
        self._failures = 0
        self._closed_again_at = 0.0

    @property
    def is_open(self) -> bool:
        with self._lock:
            return self._failures >= self._limit and self._clock() < self._closed_again_at

    def allows(self) -> bool:
        """True if a call may be made. Of several that ask when the pause has ended, only the first gets it."""
        with self._lock:
            if self._failures < self._limit:
                return True
            now = self._clock()
            if now < self._closed_again_at:
                return False
            self._closed_again_at = now + self._open_s
            return True

    def succeeded(self) -> None:
        with self._lock:
            self._failures = 0

    def failed(self, *, late: bool = False) -> None:
        with self._lock:
            self._failures += _LATE if late else _FAILED
            if self._failures >= self._limit:
                self._closed_again_at = self._clock() + self._open_s
