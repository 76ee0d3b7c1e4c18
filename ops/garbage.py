"""Short passes of the garbage collector: a full one over what a service holds takes longer than a prefetch waits.

What survives a full pass is set aside (`gc.freeze`), so that the next looks only at what came since; what is set aside
and has become a cycle of garbage is found once an hour.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_WHOLE_EVERY_S = 3_600.0
_OFTEN = 2  # passes over the middle generation before a full one: the fewer, the less there is to look at


@contextmanager
def short_passes() -> Iterator[None]:
    """For as long as the block runs, full passes are short, and many."""
    before = gc.get_threshold()
    gc.callbacks.append(_set_aside)
    gc.set_threshold(*before[:2], _OFTEN)
    gc.collect()
    try:
        yield
    finally:
        gc.callbacks.remove(_set_aside)
        gc.set_threshold(*before)
        gc.unfreeze()


async def whole_passes() -> None:
    """Once an hour look at all of it, until cancelled."""
    while True:
        await asyncio.sleep(_WHOLE_EVERY_S)
        gc.unfreeze()
        gc.collect()


def _set_aside(phase: str, info: Mapping[str, Any]) -> None:
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()
