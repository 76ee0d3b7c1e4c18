"""The entities that a text names, in order: the known ones, and new names, which "it" and "she" may mean as well."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nextlevel.lang.tokens import WORD, fold, stop_words
from nextlevel.model import EntityType
from nextlevel.store.entities import Known

from ..extract.rules.names import names
from . import lexicon
from .aliases import Aliases, name_parts
from .choose import choose
from .lexicon import Gender
from .people import gender, people
from .resolve import declined
from .spoken import Mention, languages_of

_MOST_WORDS = 1_000
_LONGEST_NAME = 6
"""Words of a text that are looked at, its last ones, and words of a name."""


@dataclass(frozen=True, slots=True)
class Named:
    """A place where a text names an entity. `known` is None for a new one, or where several bear the name."""

    start: int
    end: int
    type: EntityType
    known: Known | None = None
    gender: Gender | None = None


def scan(text: str, aliases: Aliases) -> list[Named]:
    """The names in a text, the longest at each place, without overlaps."""
    words = list(WORD.finditer(text))[-_MOST_WORDS:]
    new = {name.start: name for name in names(text, full_names=languages_of(text)[0] != "de")}
    found: list[Named] = []
    at = 0
    while at < len(words):
        named, size = _known_at(text, words, at, aliases)
        if (
            named is None
            and (name := new.get(words[at].start())) is not None
            and not _is_role(text, words, at, aliases)
        ):
            end = name.start + len(name.text)
            named = Named(name.start, end, name.type, None, _gender_of(name.text))
            size = max(1, sum(each.start() < end for each in words[at:]))
        if named is None and (named := _stranger(text, words, at)) is not None:
            size = 1
        if named is not None:
            found.append(named)
        at += max(size, 1)
    return found


def _known_at(text: str, words: list[re.Match[str]], at: int, aliases: Aliases) -> tuple[Named | None, int]:
    """The longest known name that begins at a word, and how many words it has."""
    first = words[at].start()
    for size in range(min(_LONGEST_NAME, len(words) - at), 0, -1):
        end = words[at + size - 1].end()
        if "\n" in text[first:end]:
            continue
        mention = Mention(text, first, end)
        bearers = _bearers(mention, size, aliases)
        if not bearers:
            continue
        known = choose(bearers, mention, aliases)
        if (
            known is not None
            and known.type is EntityType.PERSON
            and _goes_on(words, at + size, mention, known, aliases)
        ):
            return Named(first, words[at + size].end(), known.type, None, _gender_of(mention.said)), size + 1
        shown = known or bearers[0]
        return Named(first, end, shown.type, known, gender(shown, aliases) if known else None), size
    return None, 1


def _bearers(mention: Mention, size: int, aliases: Aliases) -> list[Known]:
    """Bearers of the name that these words are: as they stand, declined, or a person's by a part of the name."""
    if size == 1 and mention.is_function_word:
        return []
    key = fold(mention.said)
    found = aliases.bearers(key)
    if not found and size <= 2:
        found = declined(mention.words, mention, aliases)
    if not found and mention.capitalised and (size > 1 or mention.said[:1].isupper()):
        found = people(mention, aliases)
    return found


def _goes_on(words: list[re.Match[str]], at: int, mention: Mention, known: Known, aliases: Aliases) -> bool:
    """Whether another name follows a given name: "Torvald Lindh" is not our Torvald Ekesjö."""
    if at >= len(words) or " " in mention.said or not mention.word_after[:1].isupper() or mention.word_after.isupper():
        return False
    said, after = fold(mention.said), fold(words[at][0])
    given = any(said == name_parts(name)[0] for name in aliases.names_of(known) if lexicon.gender_of_kin(said) is None)
    return given and not aliases.with_word(after) and not lexicon.kinds(after) and after not in stop_words()


def _is_role(text: str, words: list[re.Match[str]], at: int, aliases: Aliases) -> bool:
    """Whether a capital begins a role before a known person's name: "Kollegan Gunnel"."""
    if at + 1 >= len(words) or lexicon.is_given_name(fold(words[at][0])):
        return False
    named, _ = _known_at(text, words, at + 1, aliases)
    return named is not None and named.known is not None and named.type is EntityType.PERSON


def _stranger(text: str, words: list[re.Match[str]], at: int) -> Named | None:
    """A listed given name that nobody known bears, or an identifier with a number."""
    said = words[at][0]
    if said[:1].isupper() and lexicon.is_given_name(fold(said)):
        return Named(
            words[at].start(), words[at].end(), EntityType.PERSON, None, lexicon.gender_of_given_name(fold(said))
        )
    if "-" in said and any(char.isdigit() for char in said) and any(char.isalpha() for char in said):
        return Named(words[at].start(), words[at].end(), EntityType.HOST)
    return None


def _gender_of(name: str) -> Gender | None:
    """What a new name tells: its title, else the given name."""
    words = [fold(word) for word in WORD.findall(name)]
    if not words:
        return None
    return lexicon.gender_of_title(words[0]) or lexicon.gender_of_given_name(words[0])
