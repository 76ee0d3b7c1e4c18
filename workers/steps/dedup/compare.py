"""Two facts about one thing: does the later say what the earlier said, more, less, or something in its stead?

Guards before likeness: a number, date, name, place, polarity or restriction that differs keeps two facts apart, however
alike their words are. What is left over on both sides makes them two, unless one is known to exclude the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from .. import predicates
from . import guards
from .guards import Leftover, Subjects
from .reading import Reading, replaced
from .terms import VALUES


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


def compare(old: Reading, new: Reading) -> Found | None:
    """How the later fact relates to the earlier one; None: they stand side by side."""
    old, new = _of_the_thing(old, new), _of_the_thing(new, old)
    if guards.strangers(old, new):
        return None
    subjects = guards.subjects_of(old, new)
    if subjects is Subjects.OTHER:
        return _taken_over(old, new)
    left = guards.left_over(old.all, new.all)
    left = Leftover(guards.unnamed(left.missing, new), guards.unnamed(left.added, old))
    if not guards.related(old, new, left, subjects):
        return _replaced_by_name(old, new, subjects)
    if old.negated != new.negated:
        return _denies(old, new, left, subjects)
    told_again = _told_again(old, new, left, subjects)
    return told_again or _replaced_by_name(old, new, subjects) or _excludes(old, new, left, subjects)


def replaces_value(sentence: str, new: Reading, old: Reading) -> bool:
    """Whether a sentence that gives a thing another value, "from 78 to 80", names the one that it is known to have."""
    ended = [term for term in replaced(sentence) if term.kind in VALUES and term not in new.all]
    shorter, longer = sorted((old.subject, new.subject), key=len)
    of_it = bool(shorter) and all(guards.said(term, longer) for term in shorter)
    held = [term for term in old.says if term.kind in VALUES]
    return bool(held) and of_it and all(term in ended for term in held)


def _of_the_thing(said: Reading, other: Reading) -> Reading:
    """ "The user wants dates in ISO format" as of the dates, where the other is: "dates are in ISO format"."""
    by_user = bool(said.subject) and all("user" in term.meanings for term in said.subject)
    if said.predicate.family != "wish" or not by_user or any("user" in term.meanings for term in other.all):
        return said
    thing = tuple(term for term in said.head if guards.said(term, other.subject))
    if not thing or len(thing) < len(other.subject):
        return said
    rest = tuple(term for term in said.head if term not in thing)
    return replace(said, subject=thing, head=rest, predicate=predicates.get("is"))


# ---- the rules


def _told_again(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> Found | None:
    """The same, more exactly or less: nothing that the one says is left over on the other's side."""
    missing = guards.weighty(left.missing, old, new)
    since = [term for term in new.since if not guards.said(term, old.since)]
    added = (*guards.weighty(left.added, new, old), *since)
    if old.restrictions - new.restrictions or not guards.meet(old, new):
        return None
    if not missing and not added and old.restrictions == new.restrictions:
        return Found(Relation.SAME, "the same words, numbers, names and polarity")
    if not missing:
        first = (*new.subject, *new.verb, *new.head, *new.scope)
        if (new.whole and not old.whole) or not all(guards.said(term, first) for term in guards.unnamed(old.head, new)):
            return None
        # "Theo" may be another than "Theo Marsh": what is said of him stays.
        return Found(Relation.REFINES, "all that is known, and more exact", covers=subjects is not Subjects.SHORT)
    if not added:
        if any("narrow" in term.classes for term in missing):
            return None
        return Found(Relation.SAME, "known already, and more exactly")
    elaborates = bool(new.more and new.head) and not guards.left_over(old.all, (*new.subject, *new.head)).added
    if elaborates and not new.changes and set(missing) <= set(old.scope) and not guards.values(missing):
        return Found(Relation.REFINES, "more about what is known", covers=False)
    return None


def _denies(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> Found | None:
    """The opposite of what is known: it ends it. Where each has something of its own, both may be true."""
    if subjects is not Subjects.EQUAL or not guards.meet(old, new):
        return None
    missing = guards.weighty(left.missing, old, new)
    added = [term for term in guards.weighty(left.added, new, old) if term not in new.more]
    if (not missing and not added) or (new.changes and not (missing and added)):
        return Found(Relation.UPDATES, "it says the opposite")
    return _replaced_by_name(old, new, subjects)


def _replaced_by_name(old: Reading, new: Reading, subjects: Subjects) -> Found | None:
    """ "Postgres instead of MySQL": the new fact names what it ends."""
    if subjects is not Subjects.EQUAL or not new.ended or new.negated or old.whole or new.whole:
        return None
    if any(guards.said(term, old.says) for term in new.ended) and not old.negated:
        return Found(Relation.UPDATES, "a correction that names what it replaces")
    return None


def _excludes(old: Reading, new: Reading, left: Leftover, subjects: Subjects) -> Found | None:
    """Two values of which one thing has one at a time."""
    if subjects is not Subjects.EQUAL or new.negated or old.whole or new.whole or not guards.one_place(old, new):
        return None
    missing, added = guards.weighty(left.missing, old, new), guards.weighty(left.added, new, old)
    if not missing or not added:
        return None
    one = old.predicate.cardinality == new.predicate.cardinality == "one" and guards.same_slot(old, new)
    if one:
        return Found(Relation.UPDATES, f"there is one {new.predicate.name} at a time")
    if guards.opposites(missing, added) or (
        guards.languages(missing, added) and new.predicate.family in ("wish", "plain")
    ):
        return Found(Relation.UPDATES, "one excludes the other")
    if guards.same_kind(new, missing, added):
        return Found(Relation.UPDATES, "another value of the same")
    if new.changes and guards.same_value(old, new) and guards.meet(old, new):
        return Found(Relation.UPDATES, "it says that this has changed")
    return None


def _taken_over(old: Reading, new: Reading) -> Found | None:
    """An office that one person holds, now held by another: "X is chair of the guild", "Y is"."""
    if old.negated or new.negated or not old.says:
        return None
    left = guards.left_over(old.says, new.says)
    # "Product owner on the client's side" is the office that the next has who is called its bearer without a place.
    missing = [term for term in left.missing if new.scope or term not in old.scope]
    named = any(guards.said(term, new.ended) for term in old.subject)
    offices = [term for term in new.says if "office" in term.classes and guards.said(term, old.says)]
    held = bool(offices) or (old.predicate.family == new.predicate.family == "lead")
    if not held or any(guards.tells_apart(term) for term in missing):
        return None
    whole = not missing and all(term in new.more or term in new.since for term in left.added)
    unique = any("contact" not in term.meanings for term in offices)
    if named and len(left.missing) < len(old.says):
        return Found(Relation.UPDATES, "another has taken over from who is named")
    if whole and (new.changes or new.fresh or unique):
        return Found(Relation.UPDATES, "the office is another's now")
    return None
