"""The names of one person's entities, so that a word leads to its bearers without a search. And the cache of them."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from uuid import UUID

from rapidfuzz import process
from rapidfuzz.distance import OSA

from nextlevel.lang.inflection import citation_forms
from nextlevel.lang.normal import normal_name
from nextlevel.model import EntityType
from nextlevel.store.entities import Alias, Known

from . import lexicon

_WORD = re.compile(r"[^\W_]+")
_JOINING = re.compile(r"[\s_-]+")
MOST_SHARING = 8
"""Bearers of a name or word: one that more of them share tells none."""


def parts(name: str) -> tuple[str, ...]:
    """The words of a name in normal form, identifiers taken apart: ("waldseilgarten", "crm")."""
    return tuple(_WORD.findall(name))


def name_parts(name: str) -> tuple[str, ...]:
    """A person's names without titles: "frau hinrichs" is ("hinrichs",)."""
    words = parts(name)
    return tuple(word for word in words if lexicon.title(word) is None) or words


class Aliases:
    """Grows by `add`; what is taken away needs a new one. All lookups are by whole keys.

    `last` is the number of the last name added.
    """

    def __init__(self, rows: Iterable[Alias] = ()) -> None:
        self.last = 0
        self._known: dict[UUID, Known] = {}
        self._names: dict[UUID, list[str]] = {}
        self._by_name: dict[str, list[UUID]] = {}
        self._by_letters: dict[str, list[UUID]] = {}
        self._by_citation: dict[str, list[UUID]] = {}
        self._by_word: dict[str, list[UUID]] = {}
        self._by_initials: dict[str, list[UUID]] = {}
        self._by_type: dict[EntityType, set[UUID]] = {kind: set() for kind in EntityType}
        self._longest: dict[str, int] = {}
        self._similar: dict[tuple[str, int], list[str]] = {}
        self.add(rows)

    def add(self, rows: Iterable[Alias]) -> None:
        """More names, or the same ones of an entity whose kind is known better now."""
        for row in rows:
            self.last = max(self.last, row.added)
            known, before = row.known, self._known.get(row.known.id)
            if before is not None:
                self._by_type[before.type].discard(known.id)
            self._known[known.id] = known
            self._by_type[known.type].add(known.id)
            names = self._names.setdefault(known.id, [])
            if row.name not in names:
                names.append(row.name)
                self._add(row.name, known)

    def bearers(self, name: str) -> list[Known]:
        """Who bears this name in normal form; else whose name differs in hyphens and spaces only."""
        return self._told(self._by_name.get(name)) or self._told(self._by_letters.get(_JOINING.sub("", name)))

    def of_citation(self, form: str) -> list[Known]:
        """Whose alias is this noun in the plural or with an article at its end: "garden lights", "klubben"."""
        return self._told(self._by_citation.get(form))

    def with_word(self, word: str) -> list[Known]:
        """Who has this word in a name; none where too many share it."""
        return self._told(self._by_word.get(word))

    def of_initials(self, letters: str) -> list[Known]:
        """Whose full name begins with these letters, word by word."""
        return self._told(self._by_initials.get(letters))

    def only(self, kind: EntityType) -> Known | None:
        """The one entity of this kind, or None."""
        found = self._by_type[kind]
        return self._known[next(iter(found))] if len(found) == 1 else None

    def names_of(self, known: Known) -> list[str]:
        """All names of an entity, in normal form."""
        return self._names.get(known.id, [])

    def longest_from(self, word: str) -> int:
        """How many words the longest name has that begins with this one; 0: none does."""
        return self._longest.get(word, 0)

    def similar(self, word: str, distance: int) -> list[str]:
        """Words of names that differ from this one by at most so many slips, with the same first letter."""
        near: list[str] = []
        for length in range(len(word) - distance, len(word) + distance + 1):
            known = self._similar.get((word[:1], length), ())
            near += [
                found
                for found, _, _ in process.extract(
                    word, known, scorer=OSA.distance, score_cutoff=distance, limit=MOST_SHARING
                )
            ]
        return near

    def _told(self, bearers: list[UUID] | None) -> list[Known]:
        """The bearers of a key; none where too many share it."""
        return [self._known[each] for each in bearers] if bearers and len(bearers) <= MOST_SHARING else []

    def _add(self, alias: str, known: Known) -> None:
        _put(self._by_name, alias, known)
        _put(self._by_letters, _JOINING.sub("", alias), known)
        words = parts(alias)
        spoken = alias.split(" ")
        for each in (spoken, words):  # "waldseilgarten-crm" is written "waldseilgarten crm" as well
            if each:
                self._longest[each[0]] = max(self._longest.get(each[0], 0), len(each))
        for word in words:
            bearers = self._by_word.get(word)
            if bearers is None:
                self._similar.setdefault((word[:1], len(word)), []).append(word)
            _put(self._by_word, word, known)
        own = parts(normal_name(known.name))
        if known.type is EntityType.TOPIC or not set(words) <= set(own):
            for form in citation_forms(spoken[-1]):
                _put(self._by_citation, " ".join((*spoken[:-1], form)), known)
        initials = "".join(word[0] for word in (name_parts(alias) if known.type is EntityType.PERSON else words))
        if len(initials) >= (2 if known.type is EntityType.PERSON else 3):
            _put(self._by_initials, initials, known)


def _put(table: dict[str, list[UUID]], key: str, known: Known) -> None:
    bearers = table.setdefault(key, [])
    if len(bearers) <= MOST_SHARING and known.id not in bearers:
        bearers.append(known.id)


class AliasCache:
    """The names of each person, good for one revision of them. Bounded; the least used goes first."""

    _MOST = 256

    def __init__(self) -> None:
        self._kept: OrderedDict[UUID, tuple[int, Aliases]] = OrderedDict()

    def get(self, user_id: UUID, revision: int) -> Aliases:
        """The names as far as they are known at this revision, to which the newer ones can be added."""
        kept = self._kept.get(user_id)
        if kept is None or kept[0] != revision:
            kept = self._kept[user_id] = (revision, Aliases())
        self._kept.move_to_end(user_id)
        while len(self._kept) > self._MOST:
            self._kept.popitem(last=False)
        return kept[1]
