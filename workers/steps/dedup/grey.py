"""The grey zone, named here alone: pairs of which the rules say "both stand" only because no table knows their words.

A model may be asked of these and of no others. What differs in a number, date, name, place, polarity or restriction is
told apart by the guards, and no model is asked. Where one of the two says such a thing and the other says nothing of
the kind, that guard can't decide: then the model's "same" does not count, since news would be lost.
"""

from __future__ import annotations

from nextlevel.model import Block, Candidate

from . import guards
from .decision import may_meet, reading_of, relate
from .guards import Subjects
from .reading import Reading
from .terms import VALUES, Kind

NEAR = 0.89
"""Cosine, as the packaged embedder gives it, from which a pair is worth a question. Of 387 labelled pairs that belong
together 377 lie above it, of 175 that don't 145."""
MOST_UNDECIDED = 1
"""Guards that may be unable to decide."""

_GUARDED = (*VALUES, Kind.NAME)


def undecided(later: Candidate | Block, earlier: Candidate | Block) -> int | None:
    """How many guards can't decide on a pair in the grey zone; None: the rules have decided."""
    if not may_meet(later, earlier) or relate(later, earlier) is not None:
        return None
    old, new = reading_of(earlier), reading_of(later)
    if guards.subjects_of(old, new) is not Subjects.EQUAL or _told_apart(old, new):
        return None
    left = guards.left_over((*old.says, *old.since), (*new.says, *new.since))
    if any(guards.tells_apart(t) and t.kind not in VALUES for t in (*left.missing, *left.added)):
        return None
    one_sided = 0
    for kind in _GUARDED:
        sides = [any(term.kind is kind for term in side) for side in (left.missing, left.added)]
        if all(sides):
            return None
        one_sided += any(sides)
    return one_sided if one_sided <= MOST_UNDECIDED else None


def _told_apart(old: Reading, new: Reading) -> bool:
    if old.negated != new.negated or old.restrictions != new.restrictions or not guards.one_place(old, new):
        return True
    one, other = old.predicate, new.predicate
    return bool(one.name and other.name) and not guards.same_slot(old, new) and not (old.plain or new.plain)
