"""The error tree: its two branches decide a turn's fate, so the picture at the head of errors.py has to be true."""

from __future__ import annotations

import inspect
from typing import Any

from nextlevel import errors
from nextlevel.errors import MalformedEvent, NextLevelError, Permanent, Transient


def children(of: type[NextLevelError]) -> dict[str, Any]:
    return {kind.__name__: children(kind) for kind in of.__subclasses__() if kind.__module__ == errors.__name__}


def drawn() -> dict[str, Any]:
    """The tree of the docstring: two columns of drawing a level, then the name."""
    path: list[dict[str, Any]] = [{}]
    for line in (inspect.getdoc(errors) or "").splitlines()[2:]:
        name = line.lstrip("│├└─ ").split()[0]
        depth = line.index(name) // 3
        branch: dict[str, Any] = {}
        path[depth][name] = branch
        path[depth + 1 :] = [branch]
    return path[0]


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    """An operator reads the picture; a worker obeys the classes."""
    assert {"NextLevelError": children(NextLevelError)} == drawn()


def test_every_error_says_in_one_sentence_what_it_means() -> None:
    """The docstring is what the reference shows."""
    for name, kind in vars(errors).items():
        if inspect.isclass(kind):
            assert (kind.__doc__ or "").endswith("."), name


def test_no_error_is_of_both_branches() -> None:
    """Kept and tried again, or visible and over: never both, never neither."""
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and kind is not NextLevelError:
            assert issubclass(kind, Transient) != issubclass(kind, Permanent), name


def test_a_malformed_event_names_the_broken_rule() -> None:
    """The code goes into counters and the dead set, the detail to whoever looks."""
    error = MalformedEvent("bad_time", "'yesterday' is not RFC 3339")
    assert ("bad_time", "bad_time: 'yesterday' is not RFC 3339") == (error.code, str(error))
