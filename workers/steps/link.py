"""Which known entities a candidate speaks of: by alias, in one pass over the text. Nothing is linked by likeness."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

import ahocorasick

from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import fold
from nextlevel.model import Candidate, EntityType
from nextlevel.store.entities import Known

MOST_ENTITIES = 20


class Aliases:
    """The aliases of one person's entities, as an automaton: finding costs the text's length only."""

    def __init__(self, rows: Iterable[tuple[str, Known]]) -> None:
        self._by_alias: dict[str, list[Known]] = {}
        for alias, known in rows:
            self._by_alias.setdefault(alias, []).append(known)
        self._automaton = ahocorasick.Automaton()
        for alias in self._by_alias:
            self._automaton.add_word(alias, alias)
        if self._by_alias:
            self._automaton.make_automaton()

    def exact(self, name: str) -> Known | None:
        """The one entity of this name; None where there is none, or more than one."""
        found = self._by_alias.get(normal_name(name), [])
        return found[0] if len(found) == 1 else None

    def within(self, text: str) -> list[Known]:
        """The entities whose names stand whole in a text, the longest name at each place, in order."""
        if not self._by_alias:
            return []
        folded = fold(text)
        spans = sorted(
            ((end - len(alias) + 1, end + 1, alias) for end, alias in self._automaton.iter(folded)),
            key=lambda span: (span[0], -span[1]),
        )
        found, reached = [], 0
        for start, end, alias in spans:
            if start < reached or not _whole(folded, start, end):
                continue
            reached = end
            if len(self._by_alias[alias]) == 1:  # of two bearers of a name, neither is meant for sure
                found.append(self._by_alias[alias][0])
        return found


class AliasCache:
    """Automata by person, each good for one state of their memory. Bounded; the least used goes first."""

    _MOST = 256

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, tuple[int, Aliases]] = OrderedDict()

    def get(self, user_id: UUID, generation: int) -> Aliases | None:
        """The automaton made at this generation, or None: make it, and `put` it."""
        kept = self._kept.get(user_id)
        if kept is None or kept[0] != generation:
            return None
        self._kept.move_to_end(user_id)
        return kept[1]

    def put(self, user_id: UUID, generation: int, aliases: Aliases) -> None:
        self._kept[user_id] = (generation, aliases)
        self._kept.move_to_end(user_id)
        while len(self._kept) > self._MOST:
            self._kept.popitem(last=False)


def link(candidate: Candidate, aliases: Aliases) -> Candidate:
    """The candidate with canonical names for what is known, and with the known entities that its sentence names."""
    subject = aliases.exact(candidate.subject)
    named = [(known.name, known.type) for known in aliases.within(candidate.span)]
    own = [_canonical(name, kind, aliases) for name, kind in candidate.entities]
    entities = tuple(dict.fromkeys([*own, *named]))[:MOST_ENTITIES]
    name = subject.name if subject else candidate.subject
    # A fact about a project belongs to it, whatever project was in focus when it was told.
    project = name if (name, EntityType.PROJECT) in entities else candidate.project
    return replace(candidate, subject=name, entities=entities, project=project)


def _canonical(name: str, kind: EntityType, aliases: Aliases) -> tuple[str, EntityType]:
    known = aliases.exact(name)
    if known is None or (known.type is not kind and kind is not EntityType.TOPIC):
        return name, kind
    return known.name, known.type


def _whole(text: str, start: int, end: int) -> bool:
    """True if no name goes on at either side: "pomelo" stands in "pomelo's", not in "pomelo-2"."""
    before = text[start - 1 : start]
    after = text[end : end + 2]
    if before and (before.isalnum() or before in "-_./@"):
        return False
    return not (after[:1].isalnum() or (after[:1] in ("-", "_", ".", "/", "@") and after[1:].isalnum()))
