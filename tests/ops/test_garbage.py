"""Collecting beside the answers: garbage goes, what survived is looked at no more, and all is as before afterwards."""

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


@pytest.fixture
async def collecting(monkeypatch):
    monkeypatch.setattr(garbage, "_EVERY_S", 0.01)
    before = gc.get_threshold()
    task = asyncio.create_task(garbage.collect())
    await asyncio.sleep(0.05)
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    gc.unfreeze()
    assert gc.get_threshold() == before


async def gone(what):
    async with asyncio.timeout(10):
        while what() is not None:
            await asyncio.sleep(0.01)


async def test_garbage_goes_though_no_full_pass_runs_by_itself(collecting):
    assert gc.get_threshold()[2] > 1_000_000
    made = ring()
    watched = weakref.ref(made.other)
    del made
    await gone(watched)


async def test_what_survived_is_set_aside_and_found_again_when_it_became_garbage(collecting, monkeypatch):
    held = ring()
    await asyncio.sleep(0.05)
    assert gc.get_freeze_count() > 0
    watched = weakref.ref(held)
    del held
    await asyncio.sleep(0.05)
    assert watched() is not None, "set aside: no pass looks at it"
    monkeypatch.setattr(garbage, "_WHOLE_EVERY_S", 0.0)
    await gone(watched)
