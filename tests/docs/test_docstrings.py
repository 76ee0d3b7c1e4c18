"""The examples in docstrings: a reader believes them, so they run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import nextlevel

# Started as programs by their names, or loaded by the host alone.
NOT_TO_IMPORT = ("__main__", ".guest")


def test_the_examples_in_docstrings_hold() -> None:
    """Each `>>>` gives what stands below it."""
    names = [found.name for found in pkgutil.walk_packages(nextlevel.__path__, "nextlevel.")]
    modules = [importlib.import_module(name) for name in names if not any(part in name for part in NOT_TO_IMPORT)]
    results = [doctest.testmod(module) for module in modules]
    assert sum(result.attempted for result in results) > 10
    assert 0 == sum(result.failed for result in results)
