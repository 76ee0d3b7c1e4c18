"""What to do with a new fact: `same` confirms, `refines` and `updates` close what is known, `distinct` closes nothing.

With the packaged embedder a cosine can't tell "same" from "distinct" (at ≥ 0.92 it joins 40 % of distinct pairs), so
none is asked here: words propose, guards decide.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Block, BlockType, Candidate

from .. import predicates
from .compare import Found, Relation, compare, replaces_value
from .reading import Reading, reading

_POSTS = frozenset({"has_role", "does"})


class Verdict(StrEnum):
    SAME = "same"
    REFINES = "refines"
    UPDATES = "updates"
    DISTINCT = "distinct"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a new fact. `rival` is what it repeats, makes more exact or replaces; `why` names the rule.

    `closes` is false where the rival says something that the new fact does not: both stand.
    """

    verdict: Verdict
    why: str
    rival: Block | None = None

    closes: bool = False


def fact_hash(subject: str, predicate: str, object_: str, *, negated: bool, project: str | None) -> bytes:
    """SHA-256 of a fact in normal form: two tellings that differ in case, articles or order of spaces are one.

    The project is part of it: "the tests run with -n 4" in two projects are two facts. What is said of the project
    itself is one fact, whether or not it was known where it was said.
    """
    parts = (
        normal_name(subject),
        predicate,
        " ".join(words(normal_name(object_))) or normal_name(object_),
        str(negated),
        _within(subject, project),
    )
    return hashlib.sha256("\x1f".join(part or "" for part in parts).encode()).digest()


def hash_of(fact: Candidate | Block) -> bytes:
    """The `fact_hash` of a fact; what a person prefers belongs to no project."""
    project = None if _is_taste(fact) else fact.project
    return fact_hash(fact.subject, fact.predicate, fact.object, negated=fact.negated, project=project)


def decide(new: Candidate, rivals: Sequence[Block]) -> Decision:
    """Compare a new fact with what was told before it, newest first.

    What it repeats comes before what it makes more exact, and that before what it replaces.
    """
    return weigh([(relation, rival) for rival in rivals if (relation := relate(new, rival)) is not None])


def weigh(found: Sequence[tuple[Found, Block]]) -> Decision:
    """The verdict on a fact that relates to others as told."""
    for wanted in Relation:
        for relation, rival in found:
            if relation.relation is wanted:
                closes = relation.covers and wanted is not Relation.SAME
                return Decision(Verdict(wanted), relation.why, rival, closes)
    return Decision(Verdict.DISTINCT, "differs from all that is known")


def relate(later: Candidate | Block, earlier: Candidate | Block) -> Found | None:
    """How a fact relates to one that was told before it; None: both stand."""
    if not may_meet(later, earlier):
        return None
    found = compare(reading_of(earlier), reading_of(later))
    if found is None and _has_left(later, earlier):
        found = Found(Relation.UPDATES, "who has left holds no post")
    if found is None and isinstance(later, Candidate) and later.corrects and _corrects(later, earlier):
        found = Found(Relation.UPDATES, "a correction that names what it replaces")
    return found


def reading_of(fact: Candidate | Block) -> Reading:
    return reading(fact.subject, fact.predicate, fact.object, fact.negated)


def may_meet(one: Candidate | Block, other: Candidate | Block) -> bool:
    """Only facts of one project can repeat or replace each other; what a person prefers is theirs in all."""
    if _within(one.subject, one.project) == _within(other.subject, other.project):
        return True
    return _is_taste(one) and _is_taste(other)


def _is_taste(fact: Candidate | Block) -> bool:
    """What the person likes, and not how the things of one project are to be."""
    return fact.type is BlockType.USER_PREFERENCE and fact.subject == "user"


def _within(subject: str, project: str | None) -> str | None:
    """The project that a subject belongs to; None where it is the project itself."""
    return None if project is None or normal_name(project) == normal_name(subject) else project


def _has_left(later: Candidate | Block, earlier: Candidate | Block) -> bool:
    """Whether somebody has left, and no more is said of it, who was told to do or to lead something."""
    if later.predicate != "left" or reading_of(later).says or earlier.negated:
        return False
    post = earlier.predicate in _POSTS or predicates.get(earlier.predicate).family in ("lead", "work")
    return post and normal_name(later.subject) == normal_name(earlier.subject)


def _corrects(new: Candidate, known: Candidate | Block) -> bool:
    """True if a correction is of the same slot, or if its sentence names what is known as the thing to replace."""
    if new.negated or known.negated:
        return False
    if normal_name(new.subject) != normal_name(known.subject):
        return replaces_value(new.span, reading_of(new), reading_of(known))
    if new.predicate == known.predicate and new.key is not None and new.key == known.key:
        return True
    return _overlap(known.object, f"{new.span} {new.object}") == 1 and _overlap(known.object, new.object) < 1


def _overlap(part: str, whole: str) -> float:
    """The share of `part`'s content words that stand in `whole`, 0..1."""
    ours = set(content_words(part))
    return len(ours & set(content_words(whole))) / len(ours) if ours else 0.0
