"""Is a new fact one we know, one that replaces what we know, or news? Guards decide; likeness of words only proposes.

With the packaged embedder a cosine can't tell "same" from "distinct" (at ≥ 0.92 it joins 40 % of distinct pairs), so
none is asked here: numbers, negation, names and the predicate's cardinality must agree.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz

from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import content_words
from nextlevel.model import Block, BlockType, Candidate

from . import predicates

ALIKE = 88
"""Likeness of two objects' sorted words, 0..100, from which they may be the same said twice."""

_NUMBER = re.compile(r"\d+(?:[.:,/-]\d+)*")


class Verdict(StrEnum):
    SAME = "same"
    UPDATES = "updates"
    DISTINCT = "distinct"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with a new fact. `rival` is the block that it repeats or replaces; `why` names the guard or rule."""

    verdict: Verdict
    why: str
    rival: Block | None = None


def fact_hash(subject: str, predicate: str, object_: str, *, negated: bool, project: str | None) -> bytes:
    """SHA-256 of a fact in normal form: two tellings that differ in case, articles or order of spaces are one.

    The project is part of it: "the tests run with -n 4" in two projects are two facts. What is said of the project
    itself is one fact, whether or not it was known where it was said.
    """
    parts = (
        normal_name(subject),
        predicate,
        " ".join(content_words(object_)) or normal_name(object_),
        str(negated),
        _within(subject, project),
    )
    return hashlib.sha256("\x1f".join(part or "" for part in parts).encode()).digest()


def decide(new: Candidate, rivals: Sequence[Block]) -> Decision:
    """Compare a new fact with what is known of its subject, newest first."""
    comparable = [rival for rival in rivals if _of_one_thing(new, rival)]
    for rival in comparable:
        if rival.predicate == new.predicate and _same(new, rival):
            return Decision(Verdict.SAME, "the same words, numbers, names and polarity", rival)
    for rival in comparable:
        why = _replaces(new, rival)
        if why:
            return Decision(Verdict.UPDATES, why, rival)
    return Decision(
        Verdict.DISTINCT, "nothing known of the kind" if not comparable else "differs from all that is known"
    )


def _of_one_thing(new: Candidate, rival: Block) -> bool:
    """Only facts about the same subject, in the same project, can repeat or replace each other."""
    if normal_name(new.subject) != normal_name(rival.subject):
        return False
    same_project = _within(rival.subject, rival.project) == _within(new.subject, new.project)
    return same_project or new.type is BlockType.USER_PREFERENCE


def _within(subject: str, project: str | None) -> str | None:
    """The project that a subject belongs to; None where it is the project itself."""
    return None if project is None or normal_name(project) == normal_name(subject) else project


def _same(new: Candidate, rival: Block) -> bool:
    if new.negated != rival.negated:
        return False
    if new.key is not None and new.key == rival.key and new.value is not None and rival.value is not None:
        return normal_name(new.value) == normal_name(rival.value)
    if _numbers(new.object) != _numbers(rival.object) or _names(new.object) != _names(rival.object):
        return False
    ours, theirs = sorted(content_words(new.object)), sorted(content_words(rival.object))
    return bool(ours) and fuzz.ratio(" ".join(ours), " ".join(theirs)) >= ALIKE


def _replaces(new: Candidate, rival: Block) -> str | None:
    """Why the new fact ends the rival's validity, or None."""
    if rival.predicate == new.predicate:
        if predicates.get(new.predicate).cardinality == "one" and not new.negated and not rival.negated:
            return f"there is one {new.predicate} at a time"
        if new.negated != rival.negated and _overlap(new.object, rival.object) == 1:
            return "it says the opposite"
        if new.key is not None and new.key == rival.key and new.corrects:
            return f"a correction of {new.key}"
    if new.corrects and _overlap(rival.object, new.span) == 1 and _overlap(rival.object, new.object) < 1:
        return "a correction that names what it replaces"
    return None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(text))


def _names(text: str) -> frozenset[str]:
    """What looks like a name or identifier: inner capitals, digits or joining signs, or a capital within."""
    words = text.split()
    return frozenset(
        normal_name(word)
        for place, word in enumerate(words)
        if re.search(r"[0-9._/@-]\w", word) or (place and word[:1].isupper())
    )


def _overlap(part: str, whole: str) -> float:
    """The share of `part`'s content words that stand in `whole`, 0..1."""
    ours = set(content_words(part))
    return len(ours & set(content_words(whole))) / len(ours) if ours else 0.0
