"""Two runs of one workflow as one: the steps that both took, in their order, with a placeholder for what varies.

Conservative, since the runs end where this takes over: most steps must agree, also of the longer run; and where two
steps in the same place differ in one word that is no version, date, id, number or file name ("deploy prod", "deploy
staging"), they are two workflows. Pure: no store.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from nextlevel.lang.steps import FEWEST_STEPS, steps_of

SHARE: Final = 0.7
"""Of the shorter run's steps that must be common to both; of the longer one's it is a half."""
_HALF: Final = 0.5
_MOST_STEPS: Final = 40
_VARIES: Final = tuple(
    (f"<{what}>", re.compile(pattern))
    for what, pattern in (
        ("version", r"(?<![\d.])\d+(?:\.\d+){1,2}(?:[-.]?(?:rc|alpha|beta|dev|a|b)\.?\d*)?(?!\d|\.\d)"),  # no address
        ("date", r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)"),
        ("id", r"(?<![^\W_])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[a-f]*\d)[0-9a-f]{7,40})(?![^\W_])"),
        ("number", r"(?<![\d.:=])\d+(?![\d.:])"),
        ("name", r"(?:(?<=/)|^)[^\s/.:=@<>]+(?=\.[a-z]\w{0,4}$)"),
    )
)


def common_steps(one: str, other: str) -> list[str]:
    """The steps that two procedures share, in their order; none where they are not one workflow."""
    mine, theirs = steps_of(one)[:_MOST_STEPS], steps_of(other)[:_MOST_STEPS]
    pairs = _aligned(mine, theirs)
    shorter, longer = sorted((len(mine), len(theirs)))
    if len(pairs) < max(FEWEST_STEPS, SHARE * shorter, _HALF * longer) or _contradict(mine, theirs, pairs):
        return []
    return [step for a, b in pairs if (step := generalised(mine[a], theirs[b])) is not None]


def generalised(one: str, other: str) -> str | None:
    """A step as both runs took it, or what both were asked to do; None: they are two.

    >>> generalised("git tag v2.4", "git tag  v2.5")
    'git tag v<version>'
    >>> generalised("serve --port 8080", "serve --port 8091") is None
    True
    """
    mine, theirs = one.split(), other.split()
    differ = _differences(mine, theirs)
    if differ is None or len(differ) > 1:
        return None
    for place in differ:
        # A number after an option is a choice, not what happens to vary.
        choice = place > 0 and mine[place - 1].startswith("-")
        word = _placeholder(mine[place], theirs[place], choice=choice)
        if place == 0 or word is None:
            return None
        mine[place] = word
    return " ".join(mine)


def _differences(mine: Sequence[str], theirs: Sequence[str]) -> list[int] | None:
    """Where two rows of words differ; None where they are not of one length."""
    if len(mine) != len(theirs):
        return None
    return [place for place, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b]


def _placeholder(one: str, other: str, *, choice: bool) -> str | None:
    for placeholder, varies in _VARIES:
        if choice and placeholder == "<number>":
            continue
        general = varies.sub(placeholder, one)
        if placeholder in general and general == varies.sub(placeholder, other):
            return general
    return None


def _aligned(mine: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """The places of the longest row of steps that both take in the same order."""
    same = [[generalised(a, b) is not None for b in theirs] for a in mine]
    best = [[0] * (len(theirs) + 1) for _ in range(len(mine) + 1)]
    for a in reversed(range(len(mine))):
        for b in reversed(range(len(theirs))):
            best[a][b] = 1 + best[a + 1][b + 1] if same[a][b] else max(best[a + 1][b], best[a][b + 1])
    pairs, a, b = [], 0, 0
    while a < len(mine) and b < len(theirs):
        if same[a][b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif best[a + 1][b] >= best[a][b + 1]:
            a += 1
        else:
            b += 1
    return pairs


def _contradict(mine: Sequence[str], theirs: Sequence[str], pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether between two common steps each does something of its own that differs in one word alone."""
    ends = [(-1, -1), *pairs, (len(mine), len(theirs))]
    for (from_a, from_b), (to_a, to_b) in pairwise(ends):
        for a in mine[from_a + 1 : to_a]:
            for b in theirs[from_b + 1 : to_b]:
                words = a.split()
                differ = _differences(words, b.split())
                if len(words) > 1 and differ is not None and len(differ) == 1:
                    return True
    return False
