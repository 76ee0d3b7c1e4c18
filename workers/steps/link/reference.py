"""What "it", "she" and "the server" mean: the entity last spoken of that fits in kind, gender and number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nextlevel.lang.detect import certain
from nextlevel.lang.inflection import LANGUAGES
from nextlevel.lang.tokens import WORD, fold, stop_words
from nextlevel.model import EntityType
from nextlevel.store.entities import Known

from ..extract.rules.names import database
from . import lexicon
from .aliases import Aliases
from .choose import choose
from .lexicon import Gender, Pronoun
from .people import gender, gender_of_new
from .resolve import NEW, Link, resolve
from .scan import Named, Told, scan
from .spoken import Mention, languages_of

LOOK_BACK = 3_000
"""Characters before a mention that are searched for what it means."""
_CLAUSE_END = re.compile(
    r"[.!?;:,\n]+\s|\s[–—-]\s|"
    r"\s(?=(?:and then|and|but|because|while|whereas|und|aber|weil|denn|während|och|men|medan|för att|"
    r"i|ale|bo|że|ponieważ)\s)",
    re.IGNORECASE,
)
_GENDER = {Pronoun.HE: Gender.MALE, Pronoun.SHE: Gender.FEMALE}
_MANY = frozenset({EntityType.ORGANISATION})


def refers(mention: Mention) -> tuple[Pronoun, str] | None:
    """The pronoun that a mention is, and its language; None where it is none.

    In the languages that its line is in, the likeliest first: "im" is Polish for "them", and no pronoun in English and
    German, nor is the name "Hans" (Swedish "his").
    """
    if len(WORD.findall(mention.said)) != 1:
        return None
    spoken, word = _spoken_around(mention), fold(mention.said)
    for language in spoken:
        if (said := lexicon.pronoun(mention.said, language)) is not None:
            is_name = mention.capitalised and language != spoken[0] and lexicon.is_given_name(word)
            return None if is_name or _addresses(mention, language) else (_in_number(said, mention, language), language)
        if language in LANGUAGES and word in stop_words(language):
            return None
    return None


def _spoken_around(mention: Mention) -> tuple[str, ...]:
    """The languages of a mention's own line, where that tells; else those of all that was said."""
    text, start = mention.text, mention.text.rfind("\n", 0, mention.start) + 1
    end = text.find("\n", mention.end)
    line = text[start : len(text) if end < 0 else end]
    return mention.languages if certain(line) is None else languages_of(line)


def _addresses(mention: Mention, language: str) -> bool:
    """German "Sie" and "Ihr" with a capital inside a sentence are whom one talks to."""
    return language == "de" and mention.capitalised and mention.word_before != ""


def _in_number(said: Pronoun, mention: Mention, language: str) -> Pronoun:
    """German "sie" before a verb in the plural are several, or a polite "you": nobody alone."""
    follows = fold(mention.word_after)
    alone = said is not Pronoun.SHE or language != "de" or fold(mention.said) != "sie" or mention.word_before != ""
    return said if alone or not lexicon.is_plural_verb(follows) else Pronoun.THEY


def by_pronoun(mention: Mention, aliases: Aliases, told: Told = ()) -> Link:
    """The entity that a pronoun means: in the nearest clause before it that names one which fits, if that names one.

    `told` are names of this turn that nobody knew before.
    """
    found = refers(mention)
    if found is None:
        return NEW
    said, language = found
    start = max(0, mention.start - LOOK_BACK)
    text = mention.text[start : mention.start]
    named = scan(text, aliases, told)
    for clause in _clauses_backwards(text, named):
        fitting = [each for each in clause if _fits(each, said, language, text, aliases)]
        surest = max((_sureness(each, said, language, text) for each in fitting), default=0)
        fitting = [each for each in fitting if _sureness(each, said, language, text) == surest]
        if fitting:
            return _one_of(fitting, mention, aliases, how="pronoun")
    if said is Pronoun.THEY and language == "en":  # of one whose gender is nobody's business
        people = [each for each in named if each.type is EntityType.PERSON]
        return _one_of(people, mention, aliases, how="pronoun") if people else NEW
    return NEW


def may_mean(mention: Mention, name: str, kind: EntityType | None, aliases: Aliases) -> bool:
    """Whether a pronoun may mean the bearer of a name, whom an extractor took it for: "she" is no Otto."""
    found = refers(mention)
    if found is None or found[0] not in _GENDER:
        return True
    known = resolve(Mention(name, 0, len(name)), aliases).known
    if known is not None:
        return gender(known, aliases) in (None, _GENDER[found[0]])
    return kind is not EntityType.PERSON or gender_of_new(name) in (None, _GENDER[found[0]])


def by_kind(mention: Mention, aliases: Aliases, told: Told = ()) -> Link:
    """What a bare noun for a kind means ("the server", "das Projekt"): the last one named, else the only one known."""
    if len(mention.words) != 1 or not (kinds := lexicon.kinds(mention.words[0])) or not _is_definite(mention):
        return NEW
    start = max(0, mention.start - LOOK_BACK)
    text = mention.text[start : mention.start]
    for clause in _clauses_backwards(text, scan(text, aliases, told)):
        fitting = [each for each in clause if each.type in kinds and _may_be_called(mention.words[0], each.said)]
        if fitting:
            return _one_of(fitting, mention, aliases, how="kind")
    known = [
        only for kind in sorted(kinds) if kind is not EntityType.TOPIC and (only := aliases.only(kind)) is not None
    ]
    return Link(known[0], how="the only one") if len(known) == 1 else NEW


def _may_be_called(noun: str, name: str) -> bool:
    """Not every tool is a database."""
    return not lexicon.is_database(noun) or database(name) is not None


def last_named(mention: Mention, rivals: Sequence[Known], aliases: Aliases) -> Known | None:
    """That of several entities which was named last before a mention."""
    named = scan(mention.text[max(0, mention.start - LOOK_BACK) : mention.start], aliases)
    return next((each.known for each in reversed(named) if each.known in rivals), None)


def _is_definite(mention: Mention) -> bool:
    """An article before it, one at its end, or a language without any."""
    word = mention.words[0]
    return (
        mention.points or mention.languages[0] == "pl" or (mention.languages[0] == "sv" and word.endswith(("n", "t")))
    )


def _one_of(fitting: Sequence[Named], mention: Mention, aliases: Aliases, *, how: str) -> Link:
    """The one entity that is named; of several the one that the words after it speak of, else none."""
    known = list(dict.fromkeys(each.known for each in fitting if each.known is not None))
    if len(known) == 1 and all(each.known is not None for each in fitting):
        return Link(known[0], how=how)
    if not known and len({fold(each.said) for each in fitting}) == 1:
        return Link(how=how, new=(fitting[-1].said, fitting[-1].type))
    if len(known) > 1 and all(each.known is not None for each in fitting):
        chosen = choose(known, Mention(mention.text[mention.start :], 0, len(mention.said)), aliases)
        return Link(chosen, () if chosen else tuple(known), how)
    return Link(None, tuple(known), how)


def _clauses_backwards(text: str, named: Sequence[Named]) -> list[list[Named]]:
    """What each clause names, the nearest clause first."""
    ends = [match.start() for match in _CLAUSE_END.finditer(text)]
    clauses: dict[int, list[Named]] = {}
    for each in named:
        clauses.setdefault(sum(end <= each.start for end in ends), []).append(each)
    return [clauses[number] for number in sorted(clauses, reverse=True)]


def _fits(named: Named, said: Pronoun, language: str, text: str, aliases: Aliases) -> bool:
    person = named.type is EntityType.PERSON
    if said is Pronoun.IT:
        return not person
    if said is Pronoun.THEY:
        return named.type in _MANY or _is_plural(named)
    told = _gender(named, language, text)
    if person or lexicon.things_have_gender(language):
        return told in (None, _GENDER[said])
    return _is_animal(named, aliases)


def _sureness(named: Named, said: Pronoun, language: str, text: str) -> int:
    """How well one that fits "he" or "she" does: its gender is told; a person whose gender is open; a thing."""
    if said not in _GENDER:
        return 0
    return 2 if _gender(named, language, text) is not None else int(named.type is EntityType.PERSON)


def _is_plural(named: Named) -> bool:
    return named.known is not None and named.known.name.casefold().endswith("s") and named.type is EntityType.TOPIC


def _is_animal(named: Named, aliases: Aliases) -> bool:
    return named.known is not None and any(
        lexicon.is_animal(word) for name in aliases.names_of(named.known) for word in name.split()
    )


def _gender(named: Named, language: str, text: str) -> Gender | str | None:
    """A person's by the name. A thing's by the article before it, or in Polish by its ending.

    "neuter" fits neither he nor she: what has a neuter article is nobody, whatever an extractor took it for.
    """
    article = _article(named, language, text)
    if named.type is EntityType.PERSON:
        return named.gender or ("neuter" if article == "neuter" and language == "de" else None)
    if article is None and language == "pl" and named.known is not None:
        last = fold(named.known.name)[-1:]
        return Gender.FEMALE if last == "a" else "neuter" if last in "oe" else Gender.MALE
    return article


def _article(named: Named, language: str, text: str) -> Gender | str | None:
    """What the article before a name tells, or the one that it begins with."""
    before = ["", ""] + [fold(word) for word in WORD.findall(text[max(0, named.start - 30) : named.start])]
    first, *more = [fold(word) for word in WORD.findall(named.said)]
    own = lexicon.gender_of_article(first, language, after=before[-1]) if more else None
    return own or lexicon.gender_of_article(before[-1], language, after=before[-2])
