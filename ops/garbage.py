"""Garbage collection beside the answers: a full pass over what a service holds takes longer than a prefetch waits.

What has survived is set aside (`gc.freeze`), so that each pass looks only at what came since; what is set aside and has
become a cycle of garbage is found once an hour.
"""

from __future__ import annotations

import asyncio
import gc
import time

_EVERY_S = 1.0
_WHOLE_EVERY_S = 3_600.0
_YOUNG = (2_000, 20)  # allocations before a pass over the youngest, and of those before one over the next


async def collect() -> None:
    """Collect from now on, until cancelled; no full pass runs by itself meanwhile."""
    before = gc.get_threshold()
    gc.set_threshold(*_YOUNG, 0x7FFFFFFF)
    looked_at = time.monotonic()
    try:
        while True:
            if time.monotonic() - looked_at >= _WHOLE_EVERY_S:
                gc.unfreeze()
                looked_at = time.monotonic()
            gc.collect()
            gc.freeze()
            await asyncio.sleep(_EVERY_S)
    finally:
        gc.set_threshold(*before)
