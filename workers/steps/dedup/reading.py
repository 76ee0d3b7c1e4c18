"""A fact read for comparison: whom it is about, how it relates, what it says, what it denies and what it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from nextlevel.lang.tokens import fold

from .. import predicates
from .terms import VALUES, Kind, Term, read

_SEGMENT = re.compile(r"[,;(（、，；](?!\d)|\)|\s[–—-]\s")
_BY = frozenset({"by", "von", "vom", "av", "przez", "durch"})
_FROM = frozenset({"z", "ze"})
"""Polish for "from" beside a change, where elsewhere it is "with"."""
_TO = frozenset({"to", "auf", "nach", "zu", "till", "na", "do"})
_PREFIX_WORDS = 5
"""Longest phrase that is looked for at the beginning of a free predicate."""
_IF = frozenset(
    map(fold, ("if", "when", "with", "wenn", "falls", "bei", "mit", "om", "när", "med", "gdy", "jeśli", "przy"))
)
_LONGEST_ENDED = 4
"""Words of a denied part that names what has ended: "no longer gpg". A longer one says something else."""
_HELPERS = frozenset({"do", "does", "did", "to"})
_NO_PREDICATE = predicates.Predicate("")


@dataclass(frozen=True, slots=True)
class Reading:
    """One fact. All terms weigh.

    `verb` are the words of a predicate that no table knows; `head` and `scope` what the first part of the object says
    and where that holds; `more` its further parts. Beside these, `since` is a start, and `ended` what holds no more.
    `whole`: a sentence that was merely noted; it is no value of anything.
    `keys` are what its words can meet another's by: two readings that share none have no word in common.
    """

    subject: tuple[Term, ...]
    predicate: predicates.Predicate
    verb: tuple[Term, ...]
    head: tuple[Term, ...]
    scope: tuple[Term, ...]
    more: tuple[Term, ...]
    since: tuple[Term, ...]
    ended: tuple[Term, ...]
    negated: bool
    changes: bool
    passive: bool
    conditional: bool
    fresh: bool
    whole: bool
    restrictions: frozenset[str]
    keys: frozenset[str]
    subject_keys: frozenset[str]

    @property
    def says(self) -> tuple[Term, ...]:
        """What it says of its subject."""
        return (*self.verb, *self.head, *self.scope, *self.more)

    @property
    def all(self) -> tuple[Term, ...]:
        return (*self.subject, *self.says)

    @property
    def plain(self) -> bool:
        """True if the predicate says nothing by itself: "is", "has"."""
        return not self.verb and (not self.predicate.name or self.predicate.family == "plain")

    @property
    def meanings(self) -> frozenset[str]:
        """What the predicate's own name means: `deadline` says what the word "deadline" does."""
        return _meanings(self.predicate.name)


@lru_cache(maxsize=4_096)
def reading(subject: str, predicate: str, object_: str, negated: bool) -> Reading:
    """Read a fact, whatever language it is in. `negated` is what is known of its polarity beside its words."""
    known, verb, rest = _predicate(predicate)
    first, *others = [read(part) for part in _SEGMENT.split(object_) if part.strip()] or [[]]
    whole = known.name == "noted"
    if known.family == "saying":
        known, verb, first = _NO_PREDICATE, *_verb_of(known.name, first)
    first = [*rest, *first]
    said = [*verb, *first]
    ended = [*_replaced(verb, also_negated=False), *_replaced(first, also_negated=False)]
    more: list[Term] = []
    for part in others:
        gone = _replaced(part, also_negated=len(_weighing(part)) <= _LONGEST_ENDED)
        ended += gone
        more += [term for term in part if term not in gone]
    kept = [term for term in first if term not in ended]
    since = _since(kept)
    kept = [term for term in kept if term not in since]
    cut = next((i for i, term in enumerate(kept) if i and "scope" in term.classes and _weighing(kept[:i])), len(kept))
    everything = [*said, *more]
    denied = any({"negation", "gone"} & term.classes or "no_longer" in term.meanings for term in said)
    forbids = known.name == "dislikes"
    named = read(subject)
    about = _weighing(named) or tuple(named)  # "the team" is all that some facts are about
    return Reading(
        subject=about,
        predicate=known,
        verb=tuple(term for term in _weighing(verb) if term not in ended),
        head=_content(kept[:cut]),
        scope=_content(kept[cut:]),
        more=_content(more),
        since=tuple(since),
        ended=_weighing(ended),
        negated=negated or denied or forbids,
        changes=bool(ended or since)
        or any({"change", "gone"} & term.classes for term in everything)
        or _ends(everything),
        passive=bool(words := predicate.replace("_", " ").casefold().split()) and words[-1] in _BY,
        conditional=any(term.form in _IF for term in everything),
        whole=whole,
        fresh=any("fresh" in term.classes for term in everything),
        restrictions=frozenset().union(*(term.meanings for term in everything if "restriction" in term.classes)),
        keys=_keys([*said, *more, *ended]),
        subject_keys=_keys(about),
    )


def replaced(sentence: str) -> list[Term]:
    """What a sentence says to hold no more."""
    return _replaced(read(sentence), also_negated=False)


def _keys(terms: Sequence[Term]) -> frozenset[str]:
    return frozenset().union(*(term.keys for term in terms if term.weighs))


def _predicate(predicate: str) -> tuple[predicates.Predicate, list[Term], list[Term]]:
    """The canonical predicate; the words of a free one that no table knows; what stands behind its known beginning."""
    if predicate in predicates.names():
        return predicates.get(predicate), [], []
    phrase = predicate.replace("_", " ")
    terms = read(phrase)
    signs = [term for term in terms if not term.classes.isdisjoint({"negation", "ends", "change", "gone"})]
    dropped = {word for each in signs for word in each.form.split()} | (_HELPERS if signs else set())
    bare = " ".join(word for word in phrase.split() if fold(word) not in dropped)
    for text in (phrase, bare):
        words = text.split()
        for length in range(min(len(words), _PREFIX_WORDS), 0, -1):
            name = predicates.canonical(" ".join(words[:length]))
            if name is not None and predicates.get(name).family != "saying":
                return predicates.get(name), [], [*signs, *read(" ".join(words[length:]))]
    return _NO_PREDICATE, terms, []


def _verb_of(predicate: str, terms: list[Term]) -> tuple[list[Term], list[Term]]:
    """The verb with which a saying begins, and the rest. What is merely noted begins with anything."""
    if predicate == "noted" or not terms or not terms[0].weighs or terms[0].kind in VALUES:
        return [], terms
    return terms[:1], terms[1:]


def _replaced(terms: Sequence[Term], *, also_negated: bool) -> list[Term]:
    """The terms that are said to hold no more: behind "instead of", between "from" and "to", or in a denied part."""
    found: list[Term] = []
    for place, term in enumerate(terms):
        if not term.meanings.isdisjoint({"instead_of", "not_but"}):
            found += terms[place + 1 :]
    if any("change" in term.classes for term in terms):
        start = next((i for i, term in enumerate(terms) if "start" in term.classes or term.form in _FROM), None)
        end = next((i for i, term in enumerate(terms) if start is not None and i > start and term.form in _TO), None)
        if start is not None and end is not None:
            found += terms[start + 1 : end]
    if also_negated and any({"negation", "gone"} & term.classes or "no_longer" in term.meanings for term in terms):
        found += terms
    return [term for term in found if term.kind is not Kind.DATE]


def _since(terms: Sequence[Term]) -> list[Term]:
    """The date behind a "since", where no end follows: it says from when the rest holds."""
    if any("until" in term.classes for term in terms):
        return []
    for before, term in pairwise(terms):
        if "start" in before.classes and term.kind is Kind.DATE:
            return [term]
    return []


def _ends(terms: Sequence[Term]) -> bool:
    return any("no_longer" in term.meanings for term in terms)


def _weighing(terms: Sequence[Term]) -> tuple[Term, ...]:
    return tuple(term for term in terms if term.weighs)


def _content(terms: Sequence[Term]) -> tuple[Term, ...]:
    """What weighs, without the words that say how far it goes: those are compared by themselves."""
    return tuple(
        term for term in terms if term.weighs and not ("restriction" in term.classes and "without" not in term.meanings)
    )


@lru_cache(maxsize=256)
def _meanings(predicate: str) -> frozenset[str]:
    return frozenset().union(*(term.meanings for term in read(predicate.replace("_", " "))))
