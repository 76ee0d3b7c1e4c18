"""Which known entity a mention means: a ladder from the surest evidence down. The first rung that finds one decides.

A rung compares words; none compares meanings. Of several that a rung finds, the surroundings choose (choose.py); where
they don't, the mention is in doubt and links to none: a fact on the wrong entity is worse than an unlinked one.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product

from nextlevel.lang.inflection import base_forms
from nextlevel.lang.normal import normal_name
from nextlevel.lang.tokens import stop_words
from nextlevel.model import EntityType
from nextlevel.store.entities import Known

from . import lexicon
from .aliases import Aliases, parts
from .choose import choose
from .people import fits_gender, people
from .slips import is_safe_for_people, mended
from .spoken import Mention

_MOST_FORMS = 256
_LONGEST_DECLINED = 5
"""Combinations of base forms that are looked up, and words of a mention whose endings are taken off."""
_FEWEST_LETTERS_OF_HEAD = 3


@dataclass(frozen=True, slots=True)
class Link:
    """The entity that is meant, or None: then `rivals` are those that may be, and `how` names the rung.

    `new` is the name and kind of one that nobody knew before this turn, and that a pronoun in it means.
    """

    known: Known | None = None
    rivals: tuple[Known, ...] = ()
    how: str = "unknown"
    new: tuple[str, EntityType] | None = None

    @property
    def entity(self) -> tuple[str, EntityType] | None:
        """Name and kind of what is meant."""
        return self.new if self.known is None else (self.known.name, self.known.type)


NEW = Link()


def resolve(mention: Mention, aliases: Aliases) -> Link:
    """The known entity that a mention names. Pronouns and bare nouns are for reference.py."""
    if not mention.key or lexicon.introduces(mention.word_before) or mention.is_function_word:
        return NEW
    for rung in (_named, _declined, people, _initials, _beside_its_kind, _versioned, _by_head, _slipped):
        found = [known for known in rung(mention, aliases) if fits_gender(mention, known, aliases)]
        if found:
            how = rung.__name__.strip("_")
            chosen = choose(found, mention, aliases)
            return Link(chosen, () if chosen else tuple(found), how)
    return NEW


def _named(mention: Mention, aliases: Aliases) -> list[Known]:
    return aliases.bearers(mention.key) or aliases.bearers(" ".join(mention.words))


def _declined(mention: Mention, aliases: Aliases) -> list[Known]:
    """Under a name with an ending: genitive, plural, the Nordic article, Polish cases."""
    return declined(mention.words, mention, aliases) or declined(tuple(mention.key.split()), mention, aliases)


def declined(words: tuple[str, ...], mention: Mention, aliases: Aliases) -> list[Known]:
    if not words or len(words) > _LONGEST_DECLINED:
        return []
    found: list[Known] = []
    forms = [base_forms(word, mention.languages) for word in words]
    for combination in islice(product(*forms), _MOST_FORMS):
        name = " ".join(combination)
        for known in (*aliases.bearers(name), *aliases.of_citation(name)):
            if known not in found and _may_be_declined(words, combination, known, mention):
                found.append(known)
    return found


def _may_be_declined(words: tuple[str, ...], base: tuple[str, ...], known: Known, mention: Mention) -> bool:
    """A person's name takes cases only, and the form must not be another name: "Hannes" is nobody's genitive."""
    if known.type is not EntityType.PERSON or not set(base) & set(parts(normal_name(known.name))):
        return True  # a noun ("mein Kollege") has all forms
    return all(word == form or form in mention.cases_of(word) for word, form in zip(words, base, strict=True))


def _initials(mention: Mention, aliases: Aliases) -> list[Known]:
    """ "FA" is Florian Amsel; "Content Delivery Network" is CDN."""
    said = mention.said.strip(".")
    if said.isalpha() and said.isupper() and 2 <= len(said) <= 3:
        return aliases.of_initials(said.casefold()) if said.casefold() not in stop_words() else []
    if len(mention.words) >= 3:
        letters = "".join(word[0] for word in mention.words)
        return [known for known in aliases.bearers(letters) if known.type is not EntityType.PERSON]
    return []


def _beside_its_kind(mention: Mention, aliases: Aliases) -> list[Known]:
    """A name with a noun that says what it is: "the price-list branch", "Projekt Dachwerk", "die Dachwerk-App"."""
    words = mention.words
    if len(words) == 1 and "-" in words[0] and _ends_in_a_noun(mention):
        head, _, noun = words[0].rpartition("-")
        return _of_kind((head,), noun, mention, aliases)
    if len(words) < 2:
        return []
    return (
        _of_kind(words[:-1], words[-1], mention, aliases)
        or _of_kind(words[1:], words[0], mention, aliases)
        or _in_a_role(mention, aliases)
    )


def _of_kind(name: tuple[str, ...], noun: str, mention: Mention, aliases: Aliases) -> list[Known]:
    kinds = lexicon.kinds(noun)
    if not kinds:
        return []
    found = aliases.bearers(" ".join(name)) or declined(name, mention, aliases)
    return [known for known in found if known.type in kinds or known.type is EntityType.TOPIC]


def _in_a_role(mention: Mention, aliases: Aliases) -> list[Known]:
    """ "carpenter Florian", "Kollege Wolfram": a noun that is no name stands before a person's."""
    if not mention.said[:1].islower() and lexicon.gender_of_kin(mention.words[0]) is None:
        return []
    found = aliases.bearers(" ".join(mention.words[1:]))
    return [known for known in found if known.type is EntityType.PERSON]


def _ends_in_a_noun(mention: Mention) -> bool:
    """A German compound has a capital after its hyphen; an identifier ("search-indexer-bench") has none."""
    return mention.said.rpartition("-")[2][:1].isupper()


def _versioned(mention: Mention, aliases: Aliases) -> list[Known]:
    """ "MariaDB 11" is MariaDB; a host's number is part of its name."""
    *name, version = mention.key.split(" ")
    if not name or not version.replace(".", "").isdigit():
        return []
    return [known for known in aliases.bearers(" ".join(name)) if known.type is EntityType.TECHNOLOGY]


def _by_head(mention: Mention, aliases: Aliases) -> list[Known]:
    """One word of a longer name: its noun ("the CRM", "der Ruderverein"), where no other entity has it."""
    if len(mention.words) != 1 or mention.words[0].isdigit() or len(mention.words[0]) < _FEWEST_LETTERS_OF_HEAD:
        return []
    found: list[Known] = []
    for form in base_forms(mention.words[0], mention.languages):
        for known in aliases.with_word(form):
            if known.type is not EntityType.PERSON and known not in found and _is_head(form, known, mention, aliases):
                found.append(known)
    return found


def _is_head(word: str, known: Known, mention: Mention, aliases: Aliases) -> bool:
    for name in aliases.names_of(known):
        words = parts(name)
        if len(words) < 2 or any(each.isdigit() for each in words):
            continue
        if words[-1] == word and (mention.points or not mention.capitalised or mention.said.isupper()):
            return True
        if words[0] == word and mention.points and known.type is EntityType.ORGANISATION:
            return True
    return False


def _slipped(mention: Mention, aliases: Aliases) -> list[Known]:
    """Under a name with a slip of the pen."""
    found: list[Known] = []
    for words in mended(mention, aliases):
        for known in aliases.bearers(" ".join(words)) or declined(words, mention, aliases):
            if known not in found and (known.type is not EntityType.PERSON or is_safe_for_people(words, mention)):
                found.append(known)
    return found
