"""What a query demands of a text: the place that it names aside, how much of what is asked the text says.

A project's name brings all that was told of it, so it is a condition and no evidence; what else is asked is evidence.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from nextlevel.lang.lexicon import compound
from nextlevel.lang.roots import root
from nextlevel.lang.tokens import words

from . import asked
from .coverage import Said, Weighed, WeighedTerm, rarest, whole
from .query import Query, Term
from .retrieve import Candidates
from .source import Entry

# What a word counts that the dictionary knows and memory does not, and one that a question is merely put with.
_KNOWN_WORD, _COMMON_WORD = 0.8, 0.1
# The least that any other word weighs: though half of a memory tells of ports, who asks for a port asks for one.
_LEAST = 3.0
# A share that lets nothing in, however near: not worth a closer look.
_LITTLE = 0.3


@dataclass(frozen=True, slots=True)
class Demand:
    """A query as a memory weighs it.

    `all` are its terms, `about` those that are no project's name; `bare`: none of them says what is asked, so that the
    question is about the very thing that it names. `projects` are the projects that it names, each with its words,
    `names` the other names in it, each with its bearers.
    """

    all: Weighed
    about: Weighed
    kind: asked.Kind | None
    bare: bool
    projects: Mapping[str, frozenset[str]]
    names: tuple[tuple[frozenset[UUID], frozenset[str]], ...]

    @classmethod
    def of(cls, query: Query, candidates: Candidates, asides: Collection[str] = ()) -> Demand:
        """`asides` are roots of words that say nothing of what is asked, as in "what did I say"."""
        unknown = rarest(candidates.blocks)
        known = {each.entry.found.block.project for each in candidates.found}
        projects = {name: frozenset(words(name)) for name in known if name}
        places = frozenset[str]().union(*projects.values())
        terms = [term for term in query.terms if root(term.whole) not in asides]
        common = sum(asked.is_common(term.whole) for term in terms)
        weighed = [_weigh(term, candidates.weights, unknown, common) for term in terms]
        about = [each for term, each in zip(terms, weighed, strict=True) if not _is_part(term, places)]
        return cls(
            whole(weighed, unknown),
            whole(about, unknown),
            asked.kind(query.text),
            all(asked.is_common(each.whole) for each in about),
            {name: held for name, held in projects.items() if any(_is_part(term, held) for term in terms)},
            tuple((bearers, frozenset(words(alias))) for alias, bearers in candidates.named.items()),
        )

    def said(self, entry: Entry) -> Said:
        """A block's words. A name in the query counts as said by every block that speaks of its bearer, by any name."""
        return self._with_names(entry.said, entry.found.entities)

    def _with_names(self, said: Said, spoken: frozenset[UUID]) -> Said:
        for bearers, name in self.names:
            if not bearers.isdisjoint(spoken):
                said = said.also(name)
        return said

    def share(self, said: Said, of_kind: bool) -> float:
        """How much of what is asked a text says, 0..1; `of_kind`: it is of the kind that is asked for."""
        extra = 0.0 if self.kind is None else self.kind.weight
        full = self.about.full + extra
        return min((self.about.weight_in(said) + extra * of_kind) / full, 1.0) if full else 0.0

    def share_of_block(self, entry: Entry, said: Said) -> float:
        block = entry.found.block
        if self.bare and self.kind is None:
            return 1.0 if self._is_about(entry) else 0.0
        of_kind = self.kind is not None and self.kind.is_answered_by(block)
        share = self.share(said, of_kind)
        if share <= _LITTLE or entry.shown is None:
            return share
        # What stands in its context alone, and is not shown, answers nothing.
        subject = frozenset() if entry.found.subject is None else frozenset({entry.found.subject})
        return self.share(self._with_names(entry.shown, subject), of_kind)

    def share_of_turn(self, said: Said, text: str) -> float:
        """The same for a past turn, of which only a date tells whether it is of the kind."""
        return self.share(said, self.kind is not None and self.kind.name == "when" and asked.names_a_day(text))

    def agrees(self, project: str | None, said: Said) -> bool:
        """True unless the query names a project, and the text is of another and does not name it."""
        return (
            not self.projects or project in self.projects or any(held <= said.words for held in self.projects.values())
        )

    def _is_about(self, entry: Entry) -> bool:
        """True for a block whose subject the query names; where that is no project, also for one that speaks of it."""
        found = entry.found
        spoken = {found.subject} if self.projects else {found.subject, *found.entities}
        return found.block.subject in self.projects or any(not bearers.isdisjoint(spoken) for bearers, _ in self.names)


def load() -> None:
    """Read the tables that queries are read by: a tenth of a second that no question should wait for."""
    compound("nothing")
    for table in (asked.kind, asked.is_common, asked.members):
        table("")


def _weigh(term: Term, weights: Mapping[str, float], unknown: float, common: int) -> WeighedTerm:
    """A word that others say too weighs as the most frequent of them, an identifier as its rarest part.

    The `common` words of a query weigh together as one.
    """
    said = [weights[each] for each in (term.whole, *term.others) if each in weights]
    parts = [
        max((weights.get(each, 0.0) for each in (part, *others)), default=0.0)
        for part, others in zip(term.parts, term.part_others, strict=True)
    ]
    weight = min(said) if said else max(parts, default=0.0)
    if not weight:
        weight = unknown * (_KNOWN_WORD if term.others else 1.0)
    weight = _LEAST * _COMMON_WORD / common if asked.is_common(term.whole) else max(weight, _LEAST)
    rare = [each or unknown for each in parts]
    shares = tuple((part, weight * each / sum(rare)) for part, each in zip(term.parts, rare, strict=True))
    return WeighedTerm(term.whole, weight, shares, term.others | asked.members(term.whole), term.part_others)


def _is_part(term: Term, place: frozenset[str]) -> bool:
    """True for a term that is a project's name, or a part of it."""
    return (
        term.whole in place or not term.others.isdisjoint(place) or (bool(term.parts) and place.issuperset(term.parts))
    )
