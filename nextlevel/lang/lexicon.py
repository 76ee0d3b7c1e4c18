"""The small dictionary of six languages: which words carry no weight, which mean the same, which are opposites."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from itertools import zip_longest

from .tokens import fold

LONGEST_PHRASE = 4
_MEANINGS = frozenset({"office", "opposites", "attributes", "languages", "concepts", "restriction", "ends"})
"""Sections whose rows are meanings; in the others a row only says what kind of word it holds."""
_LANGUAGES = ("en", "de", "sv", "pl", "zh", "ja")  # in the order of each row
SHORTEST_STEM = 4
"""Letters that two forms of a word share at least, but for a plain -s."""
SHORTEST_COMPOUND = 9
_LONG_STEM, _SHORT_END = 7, 3  # letters
_AFTER_FLEETING = frozenset({"a", "u", "i", "owi", "iem", "ow", "ami", "ach"})
_APART = frozenset({("", "er"), ("", "al")})
"""Endings that make another thing of a word: a post is no poster."""


@dataclass(slots=True)
class Lexicon:
    """`classes` and `meanings` by word or phrase (folded, single spaces); `spoken` by which words a meaning is said,
    `tongues` in which languages a word has a meaning.
    """

    classes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    meanings: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    spoken: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    tongues: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    stems: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    cjk: tuple[str, ...] = ()

    def look_up(self, word: str) -> tuple[frozenset[str], frozenset[str]]:
        """The classes and meanings of a folded word or phrase: as it stands, else of a word with the same stem."""
        known = self._known(word)
        classes: frozenset[str] = frozenset().union(*(self.classes.get(each, ()) for each in known))
        return classes, frozenset().union(*(self.meanings.get(each, ()) for each in known))

    def meant(self, word: str, language: str) -> frozenset[str]:
        """The meanings of a folded word in a language; in any, where it has none in that one.

        English data are no Polish data, which are dates.
        """
        said = {(each, meaning) for each in self._known(word) for meaning in self.meanings.get(each, ())}
        own = frozenset(meaning for each, meaning in said if language in self.tongues[each, meaning])
        return own or frozenset(meaning for _, meaning in said)

    def _known(self, word: str) -> set[str]:
        return {word} if word in self.classes or word in self.meanings else self._inflected(word)

    def _inflected(self, word: str) -> set[str]:
        for stem in stems(word):
            if found := {each for each in self.stems.get(stem, ()) if inflected(word, each)}:
                return found
        return set()


def opposed(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if the meanings are two sides of one row of opposites."""
    if one & other:
        return False
    rows = {each.rpartition("/")[0] for each in one if "/" in each}
    return any("/" in each and each.rpartition("/")[0] in rows for each in other)


def inflected(one: str, other: str) -> bool:
    """True if two folded words differ by an ending of a word's forms only.

    >>> inflected("migration", "migrationen"), inflected("post", "poster"), inflected("8080", "8081")
    (True, False, False)
    """
    if one == other:
        return True
    if not (one.isalpha() and other.isalpha()):
        return False
    if one + "s" == other or other + "s" == one or _fleeting(one, other) or _fleeting(other, one):
        return True
    shared = _shared(one, other)
    while shared >= SHORTEST_STEM and 2 * shared >= max(len(one), len(other)):
        tails = tuple(sorted((one[shared:], other[shared:]), key=len))
        if endings().issuperset(tails):
            return tails not in _APART
        shared -= 1
    return False


def _shared(one: str, other: str) -> int:
    """How many letters two words begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _fleeting(base: str, other: str) -> bool:
    """True if `other` is a Polish form without the e of its base: "Marek", "Marka"."""
    bare = base[:-2] + "k"
    return base.endswith("ek") and len(bare) >= 3 and other.startswith(bare) and other[len(bare) :] in _AFTER_FLEETING


def stems(word: str) -> list[str]:
    """What may be left of a word without an ending, the longest first; at least four letters."""
    return [word[:end] for end in range(len(word), SHORTEST_STEM - 1, -1) if word[end:] in endings()]


@lru_cache(maxsize=16_384)
def synonyms(word: str, language: str = "") -> frozenset[str]:
    """The single words that mean in any of the languages what a folded word means in its own; not the word itself.

    >>> "datenbank" in synonyms("databases"), synonyms("8080")
    (True, frozenset())
    >>> "datum" in synonyms("data"), "datum" in synonyms("data", "en"), "datum" in synonyms("data", "pl")
    (True, False, True)
    """
    known = lexicon()
    meanings = known.meant(word, language)
    return frozenset(each for meaning in meanings for each in known.spoken[meaning] if " " not in each) - {word}


@lru_cache(maxsize=65_536)
def compound(word: str) -> tuple[str, ...]:
    """The two words that a folded compound is made of, where the dictionary knows both; else none.

    >>> compound("alarmgrenze"), compound("datenbankserver"), compound("sensor")
    (('alarm', 'grenze'), ('datenbank', 'server'), ())
    """
    if len(word) < SHORTEST_COMPOUND or not word.isalpha() or _is_known(word):
        return ()
    for end in range(len(word) - SHORTEST_STEM, SHORTEST_STEM - 1, -1):
        right = word[end:]
        if _is_known(right):
            left = next((each for each in (word[:end], word[: end - 1]) if _joins(each, word[:end])), None)
            if left is not None:
                return left, right
    return ()


def _joins(left: str, whole: str) -> bool:
    """True for a known first word of a compound, bare or with the s or n that joins it: "utvecklings-server"."""
    return len(left) >= SHORTEST_STEM and whole in (left, f"{left}s", f"{left}n") and _is_known(left)


def _is_known(word: str) -> bool:
    return bool(lexicon().look_up(word)[0])


@lru_cache(maxsize=65_536)
def alike(one: str, other: str) -> bool:
    """True if two folded words are forms of one: by an ending that is known, or by short ends of a long stem.

    >>> alike("sensor", "sensoren"), alike("temperaturze", "temperatury"), alike("wetter", "wetterhahn")
    (True, True, False)
    """
    if inflected(one, other):
        return True
    shared = _shared(one, other)
    return shared >= _LONG_STEM and max(len(one), len(other)) - shared <= _SHORT_END


@cache
def endings() -> frozenset[str]:
    """The endings of words' forms, folded; none is one of them."""
    return frozenset({"", *(fold(each) for words in _table()["endings"].values() for each in words.split())})


@cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads((files(__package__) / "data" / "lexicon.toml").read_text(encoding="utf-8"))


@cache
def lexicon() -> Lexicon:
    made = Lexicon()
    for section, rows in _table().items():
        if section == "endings":
            continue
        for name, row in rows.items():
            for side, words in enumerate(row.split("|")):
                meaning = f"{name}/{side}" if section == "opposites" else name
                for language, said in zip_longest(_LANGUAGES, words.split(";"), fillvalue=""):
                    for word in said.split():
                        _add(made, fold(word.replace("_", " ")), section, meaning, language)
    made.cjk = tuple(sorted((w for w in [*made.classes, *made.meanings] if not w.isascii()), key=len, reverse=True))
    return made


def _add(made: Lexicon, word: str, section: str, meaning: str, language: str) -> None:
    made.classes[word].add(section)
    if section not in _MEANINGS:
        return
    made.meanings[word].add(meaning)
    made.spoken[meaning].add(word)
    made.tongues[word, meaning].add(language)
    # A word without a meaning of its own is taken as it stands only: "gorse" is no form of "görs".
    if word.isalpha() and word.isascii():
        for stem in stems(word):
            made.stems[stem].add(word)
