"""The entities that a text names, in order: the known ones, and new names, which "it" and "she" may mean as well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nextlevel.lang.inflection import base_forms
from nextlevel.lang.tokens import WORD, fold, stop_words
from nextlevel.model import Candidate, EntityType
from nextlevel.store.entities import Known

from ..extract.rules.names import names
from . import lexicon
from .aliases import Aliases, name_parts
from .choose import choose
from .lexicon import Gender
from .people import gender, gender_of_new, people
from .resolve import declined
from .spoken import Mention, languages_of

_MOST_WORDS = 1_000
"""Words of a text that are looked at: its last ones."""
_LONGEST_TOLD = 4
"""Words of a name that only the extractor knows."""
_VAGUE = frozenset({EntityType.TOPIC, EntityType.FILE})

Told = tuple[tuple[str, EntityType], ...]
"""Names that the extractor found in a turn, folded: nobody knows them yet, and they may have no capital."""


def told_by(candidates: Iterable[Candidate]) -> Told:
    """The names that a turn's candidates carry. What is no more than a topic is nobody that "she" or "it" means."""
    told = ((fold(name), kind) for each in candidates for name, kind in each.entities if kind not in _VAGUE)
    return tuple(dict.fromkeys(told))


@dataclass(frozen=True, slots=True)
class Named:
    """A place where a text names an entity. `known` is None for a new one, or where several bear the name."""

    start: int
    end: int
    said: str
    type: EntityType
    known: Known | None = None
    gender: Gender | None = None


def scan(text: str, aliases: Aliases, told: Told = ()) -> list[Named]:
    """The names in a text, the longest at each place, without overlaps."""
    return _Scan(text, aliases, told).run()


class _Scan:
    """One pass over a text's words."""

    def __init__(self, text: str, aliases: Aliases, told: Told) -> None:
        self._text, self._aliases, self._told = text, aliases, dict(told)
        self._told_heads = {word for name in self._told for word in WORD.findall(name)[:1]}
        self._spoken = languages_of(text)
        self._words = list(WORD.finditer(text))[-_MOST_WORDS:]
        self._new = {name.start: name for name in names(text, full_names=self._spoken[0] != "de")}

    def run(self) -> list[Named]:
        found: list[Named] = []
        at = 0
        while at < len(self._words):
            named, size = self._known(at)
            if (told := self._told_of(at, longer_than=size if named is not None else 0)) is not None:
                named, size = told
            if named is None:
                named, size = self._unknown(at)
            if named is not None:
                found.append(named)
            at += size
        return found

    def _known(self, at: int) -> tuple[Named | None, int]:
        """The longest known name that begins at a word, and how many words it has."""
        first = self._words[at]
        for size in range(self._longest(at), 0, -1):
            end = self._words[at + size - 1].end()
            if "\n" in self._text[first.start() : end]:
                continue
            mention = Mention(self._text, first.start(), end, self._spoken)
            bearers = self._bearers(mention, size)
            if not bearers:
                continue
            known = choose(bearers, mention, self._aliases)
            if known is not None and known.type is EntityType.PERSON and self._goes_on(at + size, mention, known):
                end = self._words[at + size].end()
                return self._new_name(first.start(), end, known.type), size + 1
            shown = known or bearers[0]
            told = gender(shown, self._aliases) if known else None
            return Named(first.start(), end, mention.said, shown.type, known, told), size
        return None, 1

    def _longest(self, at: int) -> int:
        """How many words a known name that begins here may have; a capital may begin a given name and a surname."""
        said = self._words[at][0]
        known = max(self._aliases.longest_from(form) for form in base_forms(fold(said), self._spoken))
        return min(max(known, 2 if said[:1].isupper() else 1), len(self._words) - at)

    def _bearers(self, mention: Mention, size: int) -> list[Known]:
        """Bearers of the name that these words are: as they stand, declined, or a person's by a part of the name."""
        if size == 1 and mention.is_function_word:
            return []
        found = self._aliases.bearers(fold(mention.said))
        if not found and size <= 2:
            found = declined(mention.words, mention, self._aliases)
        if not found and mention.said[:1].isupper():
            found = people(mention, self._aliases)
        return found

    def _goes_on(self, at: int, mention: Mention, known: Known) -> bool:
        """Whether another name follows a given name: "Florian Weber" is not our Florian Amsel."""
        follows = mention.word_after
        if at >= len(self._words) or " " in mention.said or not follows[:1].isupper() or follows.isupper():
            return False
        said, after = fold(mention.said), fold(self._words[at][0])
        own = (name for name in self._aliases.names_of(known) if lexicon.gender_of_kin(said) is None)
        is_given = any(said == name_parts(name)[0] for name in own)
        return is_given and not (self._aliases.with_word(after) or lexicon.kinds(after) or after in stop_words())

    def _unknown(self, at: int) -> tuple[Named | None, int]:
        """A new name at a word: by its form, or a listed given name, or an identifier with a number."""
        word = self._words[at]
        said, start = word[0], word.start()
        if (name := self._new.get(start)) is not None and not self._is_role(at):
            end = start + len(name.text)
            size = sum(each.start() < end for each in self._words[at:])
            return self._new_name(start, end, name.type), max(size, 1)
        if said[:1].isupper() and lexicon.is_given_name(fold(said)):
            return self._new_name(start, word.end(), EntityType.PERSON), 1
        if "-" in said and any(char.isdigit() for char in said) and any(char.isalpha() for char in said):
            return self._new_name(start, word.end(), EntityType.HOST), 1
        return None, 1

    def _told_of(self, at: int, *, longer_than: int) -> tuple[Named, int] | None:
        """The longest name that begins at a word and only the extractor knows."""
        start = self._words[at].start()
        if fold(self._words[at][0]) not in self._told_heads:
            return None
        for size in range(min(_LONGEST_TOLD, len(self._words) - at), longer_than, -1):
            end = self._words[at + size - 1].end()
            if (kind := self._told.get(fold(self._text[start:end]))) is not None:
                return self._new_name(start, end, kind), size
        return None

    def _new_name(self, start: int, end: int, kind: EntityType) -> Named:
        said = self._text[start:end]
        told = gender_of_new(said) if kind is EntityType.PERSON else None
        return Named(start, end, said, kind, None, told)

    def _is_role(self, at: int) -> bool:
        """Whether a capital begins a role before a known person's name: "Kollegan Gunnel"."""
        if at + 1 >= len(self._words) or lexicon.is_given_name(fold(self._words[at][0])):
            return False
        named, _ = self._known(at + 1)
        return named is not None and named.known is not None and named.type is EntityType.PERSON
