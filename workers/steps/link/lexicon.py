"""What single words tell: a pronoun, a title, a given name's gender, a kind of thing. Read from data/, folded."""

from __future__ import annotations

import tomllib
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from nextlevel.lang.inflection import LANGUAGES, base_forms
from nextlevel.lang.tokens import fold
from nextlevel.model import EntityType


class Gender(StrEnum):
    """Of a person, or of a word for a thing."""

    MALE = "male"
    FEMALE = "female"


class Pronoun(StrEnum):
    HE = "he"
    SHE = "she"
    IT = "it"
    THEY = "they"


def pronoun(word: str, language: str) -> Pronoun | None:
    """Which pronoun a word is in a language."""
    return _pronouns().get(language, {}).get(word.casefold())


def is_plural_verb(word: str) -> bool:
    """Whether the verb after a German subject is in the plural: "kommen", "ändern", "sind"."""
    return word.endswith(("en", "ern", "eln")) or word in ("sind", "tun")


def things_have_gender(language: str) -> bool:
    """Whether "he" and "she" may stand for a thing in this language."""
    return language in _words()["gendered_things"]["languages"].split()


def gender_of_article(word: str, language: str, *, after: str) -> Gender | str | None:
    """The gender that an article tells, "neuter" among them; after a preposition German "der" stands before a "she"."""
    rows: dict[str, str] = _words()["articles"].get(language, {})
    if word in rows.get("female_after_dative", "").split() and after in rows["dative"].split():
        return Gender.FEMALE
    return next((gender for gender in (*Gender, "neuter") if word in rows.get(gender, "").split()), None)


def title(word: str) -> Gender | str | None:
    """The gender that a title tells, "either" for one that tells none, None for no title."""
    return _titles().get(word.rstrip("."))


def gender_of_title(word: str) -> Gender | None:
    found = title(word)
    return found if isinstance(found, Gender) else None


def gender_of_kin(word: str) -> Gender | None:
    """What "wife", "syn" or "Chefin" tells."""
    return _kin().get(word)


def gender_of_given_name(name: str) -> Gender | None:
    """Of a listed given name; an unlisted one in -a is a woman's in most of our languages."""
    known = _given_names().get(name)
    if known is not None:
        return known
    return Gender.FEMALE if len(name) > 2 and name.endswith("a") and name not in _exceptions() else None


def is_given_name(word: str) -> bool:
    return word in _given_names()


def short_for(name: str) -> frozenset[str]:
    """The names that this one is short for, and those that are short for it and for no other."""
    return _short_forms().get(name, frozenset())


def is_animal(word: str) -> bool:
    return word in _set("animals", "words")


def points(word: str) -> bool:
    """Whether a word stands before something that both speakers know: an article, a demonstrative, "our"."""
    return word in _set("pointing", "words")


def negates(word: str) -> bool:
    return word in _set("sayings", "not")


def introduces(word: str) -> bool:
    """Whether what follows is somebody or something not yet spoken of: "another Florian", "a host called osprey"."""
    return word in _set("sayings", "new")


def kinds(word: str) -> frozenset[EntityType]:
    """The kinds of entity that a noun may stand for, whatever its case or number."""
    table = _table("kinds")
    return frozenset().union(*(table.get(form, frozenset()) for form in base_forms(word, LANGUAGES)))


def is_database(word: str) -> bool:
    """Whether a noun says "database", whatever its case or number."""
    return not _set("databases", "words").isdisjoint(base_forms(word, LANGUAGES))


def speaks_for(word: str) -> frozenset[EntityType]:
    """The kinds of entity that a word nearby speaks for: "ssh" for a host."""
    return _table("clues").get(word, frozenset())


@cache
def _words() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "data" / "words.toml").read_text(encoding="utf-8"))


@cache
def _names() -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "data" / "given_names.toml").read_text(encoding="utf-8"))


@cache
def _pronouns() -> dict[str, dict[str, Pronoun]]:
    return {
        language: {word: Pronoun(kind) for kind, words in rows.items() for word in words.split()}
        for language, rows in _words()["pronouns"].items()
    }


@cache
def _titles() -> dict[str, Gender | str]:
    rows = _words()["titles"]
    genders: dict[str, Gender | str] = {word: "either" for word in rows["either"].split()}
    for gender in Gender:
        for word in rows[gender].split():
            genders[word] = "either" if word in genders else gender
    return genders


@cache
def _kin() -> dict[str, Gender]:
    return {word: gender for gender in Gender for word in _words()["kin"][gender].split()}


@cache
def _given_names() -> dict[str, Gender]:
    return {name: gender for gender in Gender for name in _names()[gender].split()}


@cache
def _exceptions() -> frozenset[str]:
    return frozenset(_names()["except_in_a"].split())


@cache
def _short_forms() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for short, names in _names()["short"].items():
        for name in names:
            found.setdefault(short, set()).add(name)
            if len(names) == 1:
                found.setdefault(name, set()).add(short)
    return {name: frozenset(others) for name, others in found.items()}


@cache
def _set(section: str, key: str) -> frozenset[str]:
    return frozenset(_words()[section][key].split())


@cache
def _table(section: str) -> dict[str, frozenset[EntityType]]:
    found: dict[str, set[EntityType]] = {}
    for kind, words in _words()[section].items():
        for word in words.split():
            found.setdefault(fold(word), set()).add(EntityType(kind))
    return {word: frozenset(each) for word, each in found.items()}
