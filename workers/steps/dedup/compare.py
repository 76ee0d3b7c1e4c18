"""Two facts about one thing: does the later say what the earlier said, more, less, or something in its stead?

Guards before likeness: a number, date, name, place, polarity or restriction that differs keeps two facts apart, however
alike their words are. What is left over on both sides makes them two, unless one is known to exclude the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise

from .. import predicates
from .reading import Reading
from .terms import VALUES, Kind, Term

_MOST_BESIDE = 2
"""Words beside one of two opposites: "an open PR 812" is ended by "merged"; a long sentence says something else too."""
_SHORTEST = 2
"""Words of a value that may take another's place where the predicate says nothing: "it is now Monday"."""


class Relation(StrEnum):
    SAME = "same"
    REFINES = "refines"
    UPDATES = "updates"


@dataclass(frozen=True, slots=True)
class Found:
    """How a later fact relates to an earlier one, and why. `covers`: the later says all that the earlier says."""

    relation: Relation
    why: str
    covers: bool = True


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


def compare(old: Reading, new: Reading) -> Found | None:
    """How the later fact relates to the earlier one; None: they stand side by side."""
    old, new = _of_the_thing(old, new), _of_the_thing(new, old)
    if _strangers(old, new):
        return None
    subjects = subjects_of(old, new)
    if subjects is Subjects.OTHER:
        return _taken_over(old, new)
    left = _left_over(old.all, new.all)
    left = Leftover(_unnamed(left.missing, new), _unnamed(left.added, old))
    if not _related(old, new, left, subjects):
        return _replaced_by_name(old, new, subjects)
    if old.negated != new.negated:
        return _denies(old, new, left, subjects)
    told_again = _told_again(old, new, left, subjects)
    return told_again or _replaced_by_name(old, new, subjects) or _excludes(old, new, left, subjects)


def _of_the_thing(said: Reading, other: Reading) -> Reading:
    """ "The user wants dates in ISO format" as of the dates, where the other is: "dates are in ISO format"."""
    by_user = bool(said.subject) and all("user" in term.meanings for term in said.subject)
    if said.predicate.family != "wish" or not by_user or any("user" in term.meanings for term in other.all):
        return said
    thing = tuple(term for term in said.head if _said(term, other.subject))
    if not thing or len(thing) < len(other.subject):
        return said
    rest = tuple(term for term in said.head if term not in thing)
    return replace(said, subject=thing, head=rest, predicate=predicates.get("is"))


def subjects_of(old: Reading, new: Reading) -> Subjects:
    left = _left_over(old.subject, new.subject)
    if old.subject and new.subject:
        if not left.missing and not left.added:
            return Subjects.EQUAL
        one_sided = left.missing if not left.added else left.added if not left.missing else None
        shorter = min(old.subject, new.subject, key=len)
        of_user = all("user" in term.meanings for term in shorter)  # "the user's manager" is another
        if one_sided is not None and not of_user and not any(_tells_apart(term) for term in one_sided):
            return Subjects.SHORT
    named_by_old = any(_said(term, old.says) for term in new.subject)
    named_by_new = any(_said(term, new.says) for term in old.subject)
    return Subjects.CONVERSE if named_by_old and named_by_new else Subjects.OTHER


# ---- the rules


def _told_again(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> Found | None:
    """The same, more exactly or less: nothing that the one says is left over on the other's side."""
    missing = _weighty(left.missing, old, new)
    added = (*_weighty(left.added, new, old), *new.since)
    if old.restrictions - new.restrictions or not _meet(old, new):
        return None
    if not missing and not added and old.restrictions == new.restrictions:
        return Found(Relation.SAME, "the same words, numbers, names and polarity")
    if not missing:
        first = (*new.subject, *new.verb, *new.head, *new.scope)
        if (new.whole and not old.whole) or not all(_said(term, first) for term in _unnamed(old.head, new)):
            return None
        return Found(Relation.REFINES, "all that is known, and more exact")
    if not added:
        if any("narrow" in term.classes for term in missing):
            return None
        return Found(Relation.SAME, "known already, and more exactly")
    elaborates = bool(new.more and new.head) and not _left_over(old.all, (*new.subject, *new.head)).added
    if elaborates and not new.changes and set(missing) <= set(old.scope) and not _values(missing):
        return Found(Relation.REFINES, "more about what is known", covers=False)
    return None


def _denies(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> Found | None:
    """The opposite of what is known: it ends it. Where each has something of its own, both may be true."""
    if subjects is Subjects.CONVERSE or not _meet(old, new):
        return None
    missing = _weighty(left.missing, old, new)
    added = [term for term in _weighty(left.added, new, old) if term not in new.more]
    if (not missing and not added) or (new.changes and not (missing and added)):
        return Found(Relation.UPDATES, "it says the opposite")
    return _replaced_by_name(old, new, subjects)


def _replaced_by_name(old: Reading, new: Reading, subjects: Subjects) -> Found | None:
    """ "Postgres instead of MySQL": the new fact names what it ends."""
    if subjects is not Subjects.EQUAL or not new.ended or new.negated or old.whole or new.whole:
        return None
    if any(_said(term, old.says) for term in new.ended) and not old.negated:
        return Found(Relation.UPDATES, "a correction that names what it replaces")
    return None


def _excludes(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> Found | None:
    """Two values of which one thing has one at a time."""
    if subjects is not Subjects.EQUAL or new.negated or old.whole or new.whole or not _one_place(old, new):
        return None
    missing, added = _weighty(left.missing, old, new), _weighty(left.added, new, old)
    if not missing or not added:
        return None
    one = old.predicate.cardinality == new.predicate.cardinality == "one" and _same_slot(old, new)
    if one:
        return Found(Relation.UPDATES, f"there is one {new.predicate.name} at a time")
    if _opposites(missing, added) or (_languages(missing, added) and new.predicate.family in ("wish", "plain")):
        return Found(Relation.UPDATES, "one excludes the other")
    if _same_kind(missing, added):
        return Found(Relation.UPDATES, "another value of the same")
    if new.changes and _same_verb(old, new) and (_short(old) and _short(new) if old.plain or new.plain else True):
        return Found(Relation.UPDATES, "it says that this has changed")
    return None


def _taken_over(old: Reading, new: Reading) -> Found | None:
    """An office that one person holds, now held by another: "X is chair of the guild", "Y is"."""
    if old.negated or new.negated or not old.says:
        return None
    left = _left_over(old.says, new.says)
    named = any(_said(term, new.ended) for term in old.subject)
    offices = [term for term in new.says if "office" in term.classes and _said(term, old.says)]
    held = bool(offices) or (old.predicate.family == new.predicate.family == "lead")
    if not held or any(_tells_apart(term) for term in left.missing):
        return None
    whole = not left.missing and all(term in new.more or term in new.since for term in left.added)
    unique = any("contact" not in term.meanings for term in offices)
    if named and len(left.missing) < len(old.says):
        return Found(Relation.UPDATES, "another has taken over from who is named")
    if whole and (new.changes or new.fresh or unique):
        return Found(Relation.UPDATES, "the office is another's now")
    return None


# ---- the guards


def _strangers(old: Reading, new: Reading) -> bool:
    """True if no word of the one meets one of the other, and nothing else makes them rivals: most pairs, soon told."""
    if not (
        new.keys.isdisjoint(old.keys)
        and new.keys.isdisjoint(old.subject_keys)
        and new.subject_keys.isdisjoint(old.keys)
    ):
        return False
    one = old.predicate.cardinality == new.predicate.cardinality == "one" and _same_slot(old, new)
    return bool(old.says and new.says) and not (one or new.changes or (_values(old.says) and _values(new.says)))


def _related(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> bool:
    """True if the predicates may say the same of two things, in this order of subject and object."""
    one, other = old.predicate, new.predicate
    verbs = [term for term in left.missing if term in old.verb], [term for term in left.added if term in new.verb]
    if all(verbs):
        return _opposites(*verbs) or (_only_values(verbs[0]) and _only_values(verbs[1]))
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


def _one_place(old: Reading, new: Reading) -> bool:
    """False if each says where it holds, and not of the same place."""
    left = _left_over(old.scope, new.scope)
    return not ([t for t in left.missing if t.kind not in VALUES] and [t for t in left.added if t.kind not in VALUES])


def _meet(old: Reading, new: Reading) -> bool:
    """True if the two share more than their subjects."""
    if not old.says or not new.says:
        return not old.says and not new.says and old.predicate.name == new.predicate.name
    shared = [term for term in new.all if _said(term, old.all)]
    return len(shared) > len([term for term in new.subject if term in shared]) or any(
        _said(term, old.subject) for term in new.says
    )


def _same_slot(old: Reading, new: Reading) -> bool:
    return old.predicate.name == new.predicate.name or (
        old.predicate.family is not None and old.predicate.family == new.predicate.family
    )


def _same_verb(old: Reading, new: Reading) -> bool:
    if old.verb or new.verb:
        return not any(
            _only_words(side) for side in (_left_over(old.verb, new.verb).missing, _left_over(old.verb, new.verb).added)
        )
    return _same_slot(old, new)


def _short(reading: Reading) -> bool:
    return len(reading.says) <= _SHORTEST


def _same_kind(missing: Sequence[Term], added: Sequence[Term]) -> bool:
    """True if both are values of one kind and nothing else: 8080 and 8091, two paths, two days of a month."""
    kinds = {term.kind for term in (*missing, *added)}
    days = [term for term in (*missing, *added) if term.day is not None and term.day.weekday is not None]
    if not kinds <= VALUES:
        return False
    return (len(kinds) == 1 and not days) or kinds == {Kind.NUMBER, Kind.DATE}


def _opposites(missing: Sequence[Term], added: Sequence[Term]) -> bool:
    """True if what is left over are two sides of one thing; one side may say more."""
    pairs = [(a, b) for a in missing for b in added if b.opposes(a)]
    if not pairs:
        return False
    alone = sorted((len(missing) - len({a for a, _ in pairs}), len(added) - len({b for _, b in pairs})))
    return alone[0] == 0 and alone[1] <= _MOST_BESIDE


def _languages(missing: Sequence[Term], added: Sequence[Term]) -> bool:
    return all("languages" in term.classes for term in (*missing, *added))


def _tells_apart(term: Term) -> bool:
    """A word that makes two things of one name: "staging", "pomelo-2", "rev B"."""
    return term.kind in VALUES or "narrow" in term.classes or len(term.form) == 1


# ---- words


def _left_over(old: Sequence[Term], new: Sequence[Term]) -> Leftover:
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


def _unnamed(terms: Sequence[Term], beside: Reading) -> tuple[Term, ...]:
    """The terms without those that the other's predicate says, and without names of a kind of value: "port 8091"."""
    return tuple(
        term for term in terms if term.meanings.isdisjoint(beside.meanings) and "attributes" not in term.classes
    )


def _weighty(terms: Sequence[Term], own: Reading, other: Reading) -> tuple[Term, ...]:
    """The terms without a longer name's further words, and without a verb where the other has none."""
    longer = own.subject if not _said_any(own.subject, other.says) else ()
    loose = own.verb if not other.verb else ()
    return tuple(
        term
        for term in terms
        if term.kind in VALUES or not (term in loose or (term in longer and not _tells_apart(term)))
    )


def _said_any(terms: Sequence[Term], among: Sequence[Term]) -> bool:
    return any(_said(term, among) for term in terms)


def _said(term: Term, among: Sequence[Term]) -> bool:
    return any(other.says(term) or term.says(other) for other in among)


def _values(terms: Sequence[Term]) -> bool:
    return any(term.kind in VALUES for term in terms)


def _only_values(terms: Sequence[Term]) -> bool:
    return all(term.kind in VALUES for term in terms)


def _only_words(terms: Sequence[Term]) -> bool:
    return any(term.kind not in VALUES for term in terms)
