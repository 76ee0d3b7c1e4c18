"""People by parts of their names: title and surname, given name alone, initials. And whether a title fits."""

from __future__ import annotations

from nextlevel.lang.tokens import WORD, fold
from nextlevel.model import EntityType
from nextlevel.store.entities import Known

from . import lexicon
from .aliases import Aliases, name_parts
from .lexicon import Gender
from .spoken import Mention


def people(mention: Mention, aliases: Aliases) -> list[Known]:
    """Known people whose name holds every word of the mention, in order: "F. Amsel", "Florian A.", "Mr Amsel"."""
    words = tuple(part for word in mention.words for part in word.split("-"))
    if not words or not mention.capitalised or all(len(word) == 1 for word in words):
        return []
    found: list[Known] = []
    for word in words:
        for form in _forms(word, mention):
            for known in aliases.with_word(form):
                if known.type is EntityType.PERSON and known not in found and _is(words, known, mention, aliases):
                    found.append(known)
    return found


def gender(known: Known, aliases: Aliases) -> Gender | None:
    """What an entity's names tell of it: a title, a word of kinship, else the given name."""
    names = aliases.names_of(known)
    for name in names:
        for word in WORD.findall(name):
            if (told := lexicon.gender_of_title(word) if " " in name else None) is not None:
                return told
            if (told := lexicon.gender_of_kin(word)) is not None:
                return told
    if known.type is not EntityType.PERSON:
        return None
    for name in names:
        words = name_parts(name)
        if (len(words) > 1 or lexicon.is_given_name(words[0])) and (
            told := lexicon.gender_of_given_name(words[0])
        ) is not None:
            return told
    titled = any(" " in name and len(name_parts(name)) == 1 for name in names)
    return None if titled else lexicon.gender_of_given_name(name_parts(names[0])[0]) if names else None


def gender_of_new(name: str) -> Gender | None:
    """What a new name tells: its title, else the given name."""
    words = [fold(word) for word in WORD.findall(name)]
    if not words:
        return None
    return lexicon.gender_of_title(words[0]) or lexicon.gender_of_given_name(words[0])


def fits_gender(mention: Mention, known: Known, aliases: Aliases) -> bool:
    """ "Herr Hinrichs" is not "Frau Hinrichs", and no title is put before a thing."""
    if mention.title is None:
        return True
    if known.type is not EntityType.PERSON:
        return mention.key in aliases.names_of(known)
    told = gender(known, aliases)
    return told is None or not isinstance(mention.title, Gender) or told is mention.title


def _is(words: tuple[str, ...], known: Known, mention: Mention, aliases: Aliases) -> bool:
    return any(_is_of(words, name_parts(name), mention) for name in aliases.names_of(known))


def _is_of(words: tuple[str, ...], own: tuple[str, ...], mention: Mention) -> bool:
    if len(words) > len(own):
        return False
    if len(words) == 1:
        # With a title the surname; without, the given name or the surname.
        places = (own[-1],) if mention.title is not None else (own[0], own[-1])
        return any(_same(words[0], part, mention) for part in places)
    at = 0
    for word in words:
        while at < len(own) and not (_same(word, own[at], mention) or word == own[at][:1]):
            at += 1
        if at == len(own):
            return False
        at += 1
    return True


def _same(word: str, part: str, mention: Mention) -> bool:
    return len(word) > 1 and part in _forms(word, mention)


def _forms(word: str, mention: Mention) -> tuple[str, ...]:
    """What the word may be in the first case, and the names that this is short for."""
    forms = mention.cases_of(word)
    return (*forms, *(name for form in forms for name in lexicon.short_for(form)))
