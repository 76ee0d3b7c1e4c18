"""What "it", "she" and "the server" mean: the entity last spoken of that fits in kind, gender and number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from nextlevel.lang.inflection import LANGUAGES
from nextlevel.lang.tokens import WORD, fold
from nextlevel.model import EntityType
from nextlevel.store.entities import Known

from . import lexicon
from .aliases import Aliases
from .choose import choose
from .lexicon import Gender, Pronoun
from .resolve import NEW, Link
from .scan import Named, scan
from .spoken import Mention

LOOK_BACK = 3_000
"""Characters before a mention that are searched for what it means."""
_CLAUSE_END = re.compile(
    r"[.!?;:,\n]+\s|\s[–—-]\s|"
    r"\s(?=(?:and then|and|but|because|while|whereas|und|aber|weil|denn|während|och|men|medan|för att|"
    r"i|ale|bo|że|ponieważ)\s)",
    re.IGNORECASE,
)
_MANY = frozenset({EntityType.ORGANISATION})
_ARTICLE = {"der": Gender.MALE, "die": Gender.FEMALE, "ten": Gender.MALE, "ta": Gender.FEMALE}
_NEUTER = frozenset({"das", "to"})


def refers(mention: Mention) -> tuple[Pronoun, str] | None:
    """The pronoun that a mention is, and its language; None where it is none."""
    if len(WORD.findall(mention.said)) != 1:
        return None
    return lexicon.pronoun(mention.said, (*mention.languages, *LANGUAGES))


def by_pronoun(mention: Mention, aliases: Aliases) -> Link:
    """The entity that a pronoun means: in the nearest clause before it that names one which fits, if that names one."""
    told = refers(mention)
    if told is None:
        return NEW
    said, language = told
    start = max(0, mention.start - LOOK_BACK)
    text = mention.text[start : mention.start]
    named = scan(text, aliases)
    for clause in _clauses_backwards(text, named):
        fitting = [each for each in clause if _fits(each, said, language, text, aliases)]
        fitting = [each for each in fitting if each.gender is not None] or fitting
        if fitting:
            return _one_of(fitting, mention, aliases, how="pronoun")
    if said is Pronoun.THEY:
        people = [each for each in named if each.type is EntityType.PERSON]
        return _one_of(people, mention, aliases, how="pronoun") if people else NEW
    return NEW


def by_kind(mention: Mention, aliases: Aliases) -> Link:
    """What a bare noun for a kind means ("the server", "das Projekt"): the last one named, else the only one known."""
    if len(mention.words) != 1 or not (kinds := lexicon.kinds(mention.words[0])) or not _is_definite(mention):
        return NEW
    start = max(0, mention.start - LOOK_BACK)
    text = mention.text[start : mention.start]
    for clause in _clauses_backwards(text, scan(text, aliases)):
        fitting = [each for each in clause if each.type in kinds]
        if fitting:
            return _one_of(fitting, mention, aliases, how="kind")
    known = [
        only for kind in sorted(kinds) if kind is not EntityType.TOPIC and (only := aliases.only(kind)) is not None
    ]
    return Link(known[0], how="the only one") if len(known) == 1 else NEW


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
    wanted = Gender.MALE if said is Pronoun.HE else Gender.FEMALE
    if person:
        return named.gender in (None, wanted)
    if _is_animal(named, aliases):
        return True
    return lexicon.things_have_gender(language) and _thing_gender(named, language, text) in (None, wanted)


def _is_plural(named: Named) -> bool:
    return named.known is not None and named.known.name.casefold().endswith("s") and named.type is EntityType.TOPIC


def _is_animal(named: Named, aliases: Aliases) -> bool:
    return named.known is not None and any(
        lexicon.is_animal(word) for name in aliases.names_of(named.known) for word in name.split()
    )


def _thing_gender(named: Named, language: str, text: str) -> Gender | str | None:
    """By the article before it, or in Polish by its ending; "neuter" fits neither he nor she."""
    before = WORD.findall(text[max(0, named.start - 30) : named.start])
    if before and (article := fold(before[-1])) in _ARTICLE:
        return _ARTICLE[article]
    if before and fold(before[-1]) in _NEUTER:
        return "neuter"
    if language == "pl" and named.known is not None:
        last = fold(named.known.name)[-1:]
        return Gender.FEMALE if last == "a" else "neuter" if last in "oe" else Gender.MALE
    return None
