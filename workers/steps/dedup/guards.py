"""What keeps two facts apart, and what makes one exclude the other: their subjects, predicates, places and values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from .reading import Reading
from .terms import VALUES, Kind, Term

_MOST_BESIDE = 2
"""Words beside one of two opposites: "an open PR 812" is ended by "merged"; a long sentence says something else too."""
_SHORTEST = 2
"""Words of a value that may take another's place where the predicate says nothing: "it is now Monday"."""


class Subjects(StrEnum):
    """How the subjects relate. SHORT: one is short for the other. CONVERSE: each stands in the other's object."""

    EQUAL = "equal"
    SHORT = "short"
    CONVERSE = "converse"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Leftover:
    """What the earlier fact says and the later does not, and what the later adds."""

    missing: tuple[Term, ...]
    added: tuple[Term, ...]


def subjects_of(old: Reading, new: Reading) -> Subjects:
    left = left_over(old.subject, new.subject)
    if old.subject and new.subject:
        if not left.missing and not left.added:
            return Subjects.EQUAL
        one_sided = left.missing if not left.added else left.added if not left.missing else None
        shorter = min(old.subject, new.subject, key=len)
        of_user = all("user" in term.meanings for term in shorter)  # "the user's manager" is another
        if one_sided is not None and not of_user and not any(tells_apart(term) for term in one_sided):
            return Subjects.SHORT
    named_by_old = any(said(term, old.says) for term in new.subject)
    named_by_new = any(said(term, new.says) for term in old.subject)
    return Subjects.CONVERSE if named_by_old and named_by_new else Subjects.OTHER


def strangers(old: Reading, new: Reading) -> bool:
    """True if no word of the one meets one of the other, and nothing else makes them rivals: most pairs, soon told."""
    if not (
        new.keys.isdisjoint(old.keys)
        and new.keys.isdisjoint(old.subject_keys)
        and new.subject_keys.isdisjoint(old.keys)
    ):
        return False
    one = old.predicate.cardinality == new.predicate.cardinality == "one" and same_slot(old, new)
    return bool(old.says and new.says) and not (one or new.changes or (values(old.says) and values(new.says)))


def related(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> bool:
    """True if the predicates may say the same of two things, in this order of subject and object."""
    one, other = old.predicate, new.predicate
    verbs = [term for term in left.missing if term in old.verb], [term for term in left.added if term in new.verb]
    if all(verbs):
        return opposites(*verbs) or (only_values(verbs[0]) and only_values(verbs[1]))
    if subjects is Subjects.CONVERSE:
        if old.plain or new.plain:
            return True
        if one.name and other.name:
            if one.family == other.family == "lead" and _a_person(old) != _a_person(new):
                return True  # Where endings tell who does it, the one led may stand first.
            return (
                other.name in (one.inverse, one.name if old.passive != new.passive else None)
                or one.name == other.inverse
            )
        return old.passive != new.passive or old.conditional != new.conditional or bool(verbs[0]) != bool(verbs[1])
    if not one.name or not other.name or old.plain or new.plain:
        strange = (verbs[1] and one.name and not old.plain) or (verbs[0] and other.name and not new.plain)
        return not strange
    return one.name == other.name or (one.family is not None and one.family == other.family)


def _a_person(reading: Reading) -> bool:
    return all(term.kind is Kind.NAME for term in reading.subject)


def one_place(old: Reading, new: Reading) -> bool:
    """False if each says where it holds, and not of the same place."""
    left = left_over(old.scope, new.scope)
    return not ([t for t in left.missing if t.kind not in VALUES] and [t for t in left.added if t.kind not in VALUES])


def meet(old: Reading, new: Reading) -> bool:
    """True if the two share more than their subjects."""
    if not old.says or not new.says:
        return not old.says and not new.says and old.predicate.name == new.predicate.name
    shared = [term for term in new.all if said(term, old.all)]
    return len(shared) > len([term for term in new.subject if term in shared]) or any(
        said(term, old.subject) for term in new.says
    )


def same_slot(old: Reading, new: Reading) -> bool:
    return old.predicate.name == new.predicate.name or (
        old.predicate.family is not None and old.predicate.family == new.predicate.family
    )


def same_value(old: Reading, new: Reading) -> bool:
    """True if both give one thing a value: by one verb or predicate or, where that says nothing, in a word or two."""
    if old.verb or new.verb:
        left = left_over(old.verb, new.verb)
        return only_values(left.missing) and only_values(left.added)
    if not same_slot(old, new):
        return False
    return not (old.plain or new.plain) or max(len(old.says), len(new.says)) <= _SHORTEST


def same_kind(new: Reading, missing: Sequence[Term], added: Sequence[Term]) -> bool:
    """True if both are values of one kind and nothing else: 8080 and 8091, two days of a month, two paths.

    A name tells nothing of things that stand side by side: who uses one library uses another too. Nor does a day of the
    week alone: what happens on Mondays may happen on Fridays.
    """
    kinds = {term.kind for term in (*missing, *added)}
    weekdays = any(term.day is not None and term.day.weekday is not None for term in (*missing, *added))
    if kinds == {Kind.IDENTIFIER}:
        return new.predicate.name in ("", "is")
    return kinds in ({Kind.NUMBER}, {Kind.NUMBER, Kind.DATE}) or (kinds == {Kind.DATE} and not weekdays)


def opposites(missing: Sequence[Term], added: Sequence[Term]) -> bool:
    """True if what is left over are two sides of one thing; one side may say more."""
    pairs = [(a, b) for a in missing for b in added if b.opposes(a)]
    if not pairs:
        return False
    alone = sorted((len(missing) - len({a for a, _ in pairs}), len(added) - len({b for _, b in pairs})))
    return alone[0] == 0 and alone[1] <= _MOST_BESIDE


def languages(missing: Sequence[Term], added: Sequence[Term]) -> bool:
    return all("languages" in term.classes for term in (*missing, *added))


def tells_apart(term: Term) -> bool:
    """A word that makes two things of one name: "staging", "pomelo-2", "rev B"."""
    return term.kind in VALUES or "narrow" in term.classes or len(term.form) == 1


# ---- words


def left_over(old: Sequence[Term], new: Sequence[Term]) -> Leftover:
    missing = [term for term in old if not any(other.says(term) for other in new)]
    added = [term for term in new if not any(other.says(term) or term.says(other) for other in old)]
    # A day in the month that was known is no other day, but it is more exact.
    added += [t for t in new if t.day and t not in added and not any(o.says(t) for o in old)]
    for one, other in ((missing, added), (added, missing)):
        for term in list(one):
            for first, second in pairwise(list(other)):
                if first.form + second.form == term.form and term in one:
                    one.remove(term)
                    other.remove(first)
                    other.remove(second)
    return Leftover(tuple(missing), tuple(added))


def unnamed(terms: Sequence[Term], beside: Reading) -> tuple[Term, ...]:
    """The terms without those that the other's predicate says, and without names of a kind of value: "port 8091"."""
    return tuple(
        term for term in terms if term.meanings.isdisjoint(beside.meanings) and "attributes" not in term.classes
    )


def weighty(terms: Sequence[Term], own: Reading, other: Reading) -> tuple[Term, ...]:
    """The terms without a longer name's further words, and without a verb where the other has none."""
    longer = own.subject if not any(said(term, other.says) for term in own.subject) else ()
    loose = own.verb if not other.verb else ()
    return tuple(
        term
        for term in terms
        if term.kind in VALUES or not (term in loose or (term in longer and not tells_apart(term)))
    )


def said(term: Term, among: Sequence[Term]) -> bool:
    return any(other.says(term) or term.says(other) for other in among)


def values(terms: Sequence[Term]) -> bool:
    return any(term.kind in VALUES for term in terms)


def only_values(terms: Sequence[Term]) -> bool:
    return all(term.kind in VALUES for term in terms)
