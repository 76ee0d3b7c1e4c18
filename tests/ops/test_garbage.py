"""Short passes: garbage goes, what survived is looked at no more, and all is as before afterwards."""

import asyncio
import gc
import weakref

import pytest

from nextlevel.ops import garbage


class Ring:
    """Two of them that hold each other are garbage which only the collector finds."""

    def __init__(self):
        self.other = None


def ring():
    one, other = Ring(), Ring()
    one.other, other.other = other, one
    return one


@pytest.fixture(autouse=True)
def short_passes():
    before = gc.get_threshold(), [*gc.callbacks]
    with garbage.short_passes():
        yield
    assert (gc.get_threshold(), gc.callbacks) == before
    assert gc.get_freeze_count() == 0


def test_young_garbage_goes():
    made = ring()
    watched = weakref.ref(made)
    del made
    held = [[] for _ in range(100_000)]  # enough for passes to come by themselves
    assert watched() is None
    assert held


async def test_what_survived_is_set_aside_and_found_again_when_it_became_garbage(monkeypatch):
    held = ring()
    gc.collect()
    watched = weakref.ref(held)
    del held
    gc.collect()
    assert watched() is not None, "set aside: no pass looks at it"
    monkeypatch.setattr(garbage, "_WHOLE_EVERY_S", 0.01)
    looking = asyncio.create_task(garbage.whole_passes())
    async with asyncio.timeout(10):
        while watched() is not None:
            await asyncio.sleep(0.01)
    looking.cancel()
