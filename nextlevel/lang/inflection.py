"""Words without their endings: what a declined name or noun may be in the dictionary. Names of four languages.

A proposal only: several base forms are possible, and a name must be known under one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

LANGUAGES = ("en", "de", "sv", "pl")

Ending = tuple[str, tuple[str, ...], int]
"""An ending, what may stand in its place, and how many letters of the word must remain before it."""

_GENITIVE: tuple[Ending, ...] = (("s", ("",), 3),)

# In folded letters: ę and ą are e and a, ó is o, ł is l. Soft consonants are written as they sound before the ending.
_POLISH: tuple[Ending, ...] = (
    ("cie", ("t", "ta", "to"), 2),
    ("dzie", ("d", "da", "do"), 2),
    ("rze", ("r", "ra", "ro"), 2),
    ("dze", ("g", "ga"), 2),
    ("sze", ("ch", "cha"), 2),
    ("ce", ("ka",), 2),
    ("iego", ("i", "y"), 2),
    ("iemu", ("i", "y"), 2),
    ("iej", ("a", "ia"), 2),
    ("ego", ("y", "i"), 2),
    ("emu", ("y", "i"), 2),
    ("ej", ("a",), 2),
    ("im", ("i",), 3),
    ("ym", ("y",), 2),
    ("owi", ("", "o"), 2),
    ("iem", ("", "o"), 2),
    ("em", ("", "o"), 2),
    ("ami", ("", "a", "o"), 2),
    ("ach", ("", "a", "o"), 2),
    ("om", ("", "a", "o"), 2),
    ("ow", ("",), 2),
    ("ie", ("", "a", "ia", "o"), 2),
    ("i", ("ia", "a", ""), 2),
    ("a", ("", "o"), 2),
    ("u", ("", "o", "a"), 2),
    ("y", ("a", ""), 2),
    ("e", ("a", "", "o"), 2),
    ("o", ("a",), 2),
)

_NAMES: dict[str, tuple[Ending, ...]] = {"en": _GENITIVE, "de": _GENITIVE, "sv": _GENITIVE, "pl": _POLISH}
_NOUNS: dict[str, tuple[Ending, ...]] = {
    "en": (("ies", ("y",), 2), ("es", ("", "e"), 3), ("s", ("",), 3)),
    "de": (
        ("es", ("", "e"), 3),
        ("en", ("", "e"), 3),
        ("er", ("", "e"), 4),
        ("s", ("",), 3),
        ("n", ("",), 4),
        ("e", ("",), 4),
    ),
    "sv": (
        ("arnas", ("", "e"), 3),
        ("ornas", ("a",), 3),
        ("arna", ("", "e"), 3),
        ("orna", ("a",), 3),
        ("erna", ("", "e"), 3),
        ("ens", ("", "e"), 3),
        ("ets", ("", "e"), 3),
        ("en", ("", "e"), 3),
        ("et", ("", "e"), 3),
        ("ns", ("",), 3),
        ("ar", ("", "e"), 3),
        ("or", ("a",), 3),
        ("er", ("",), 3),
        ("n", ("",), 3),
        ("t", ("",), 4),
        ("s", ("",), 3),
    ),
    "pl": _POLISH,
}


def base_forms(word: str, languages: Iterable[str] = LANGUAGES, *, name: bool = False) -> tuple[str, ...]:
    """What a folded word may be without its ending, itself first. `name`: a person's, of which no plural is made.

    >>> base_forms("florians", ["en"], name=True)
    ('florians', 'florian')
    >>> "bartek" in base_forms("bartka", ["pl"])
    True
    """
    return _forms(word, tuple(languages), name)


@lru_cache(maxsize=16_384)
def _forms(word: str, languages: tuple[str, ...], name: bool) -> tuple[str, ...]:
    if not word.isalpha():  # an identifier has no endings
        return (word,)
    table = _NAMES if name else _NOUNS
    found = [word]
    for language in languages:
        for form in _without_ending(word, table.get(language, ())):
            found.append(form)
            if language == "pl":
                found += _with_fleeting_vowel(form)
    return tuple(dict.fromkeys(found))


def _without_ending(word: str, endings: Iterable[Ending]) -> Iterator[str]:
    for ending, instead, least in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            stem = word[: -len(ending)]
            yield from (stem + each for each in instead)


def _with_fleeting_vowel(stem: str) -> tuple[str, ...]:
    """Polish drops the last e of a stem before an ending: Bartek, Bartka; Paweł, Pawła; Krzysiek, Krzyśka."""
    if len(stem) >= 3 and not set(stem[-2:]) & set("aeiouy"):
        return (f"{stem[:-1]}e{stem[-1]}", f"{stem[:-1]}ie{stem[-1]}")
    return ()


_CITATION: tuple[Ending, ...] = (
    ("ies", ("y",), 2),
    ("es", ("", "e"), 3),
    ("s", ("",), 3),
    ("arna", ("", "e"), 3),
    ("orna", ("a",), 3),
    ("erna", ("", "e"), 3),
    ("en", ("", "e"), 3),
    ("et", ("", "e"), 3),
    ("ar", ("", "e"), 3),
    ("n", ("",), 4),
)


def citation_forms(noun: str) -> tuple[str, ...]:
    """What a folded noun that stands in the plural, or with its article at the end, is in the dictionary.

    >>> citation_forms("lights"), "klubb" in citation_forms("klubben")
    (('light',), True)
    """
    return tuple(dict.fromkeys(_without_ending(noun, _CITATION))) if noun.isalpha() else ()
