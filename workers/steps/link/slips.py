"""Slips of the pen: what a misspelt mention was meant to be. Bounded, by length, never across digits."""

from __future__ import annotations

from itertools import islice, product

from rapidfuzz.distance import OSA

from nextlevel.lang.tokens import stop_words

from . import lexicon
from .aliases import Aliases
from .spoken import Mention

_SHORTEST = 5
_LONG = 9
"""Letters of a word from which one slip is believed, and two."""
_SHORTEST_BESIDE_ANOTHER = 4
"""The same in a name of several words, of which another is known."""
_TO_DROP_ONE, _TO_BE_ANOTHER, _MORE_FOR_TWO = 6, 7, 2
"""Letters from which one may be missing, or another ("router", "rooter" are two words); so many more for two slips."""
_MOST = 8


def mended(mention: Mention, aliases: Aliases) -> list[tuple[str, ...]]:
    """The mention's words with each unknown one replaced by a known one that it may be."""
    if mention.deliberate:
        return []
    words = tuple(part for word in mention.words for part in word.split("-"))
    meant = [
        (word,) if aliases.with_word(word) or word in stop_words() else _near(word, mention, aliases) for word in words
    ]
    if all(options == (word,) for word, options in zip(words, meant, strict=True)):
        return []
    return list(islice(product(*meant), _MOST))


def is_safe_for_people(meant: tuple[str, ...], mention: Mention) -> bool:
    """One name with a capital must be the same but for doubled or swapped letters: "Dimitri" is not "Dmitri"."""
    return len(meant) > 1 or not mention.capitalised or _trivial(mention.words[0], meant[0])


def _near(word: str, mention: Mention, aliases: Aliases) -> tuple[str, ...]:
    shortest = _SHORTEST if len(mention.words) == 1 else _SHORTEST_BESIDE_ANOTHER
    if len(word) < shortest or not word.isalpha() or lexicon.is_given_name(word):
        return (word,)
    distance = 2 if len(word) >= _LONG else 1
    near = [known for known in aliases.similar(word, distance) if known.isalpha() and _is_slip(word, known, mention)]
    return tuple(near) or (word,)


def _is_slip(word: str, meant: str, mention: Mention) -> bool:
    """Two letters swapped, one doubled or left single, one dropped or added inside; not another ending."""
    if len(meant) < _SHORTEST:
        return False
    if _trivial(word, meant):
        return True
    if lexicon.is_given_name(meant) and mention.capitalised:
        return False
    if sorted(word) == sorted(meant):
        return True
    if word.startswith(meant) or meant.startswith(word) or word[-1] != meant[-1]:
        return False  # with an ending of its own it is another word
    needed = _TO_DROP_ONE if len(word) != len(meant) else _TO_BE_ANOTHER
    return min(len(word), len(meant)) >= needed + (_MORE_FOR_TWO if OSA.distance(word, meant) > 1 else 0)


def _trivial(word: str, meant: str) -> bool:
    """The same but for doubled letters, or for two neighbours that changed places."""
    if _single(word) == _single(meant):
        return True
    swapped = [
        place for place in range(min(len(word), len(meant))) if word[place : place + 1] != meant[place : place + 1]
    ]
    return (
        len(word) == len(meant)
        and len(swapped) == 2
        and swapped[1] == swapped[0] + 1
        and word[swapped[0]] == meant[swapped[1]]
        and word[swapped[1]] == meant[swapped[0]]
    )


def _single(word: str) -> str:
    return "".join(char for place, char in enumerate(word) if word[place - 1 : place] != char)
