"""Of several bearers of a name, the one that the words around it speak of. No clue, or clues for two: none."""

from __future__ import annotations

from collections.abc import Sequence

from nextlevel.lang.inflection import base_forms
from nextlevel.lang.tokens import WORD, fold, stop_words
from nextlevel.store.entities import Known

from . import lexicon
from .aliases import Aliases, parts
from .spoken import Mention

_REACH = 400
"""Characters on either side that are looked at."""
_NAME_CLUE, _KIND_CLUE = 3.0, 1.0
_LEAST_LEAD = 0.1


def choose(found: Sequence[Known], mention: Mention, aliases: Aliases) -> Known | None:
    """The one that is meant, or None."""
    if len(found) == 1:
        return found[0]
    own = [known for known in found if mention.key == _own_name(known)]
    if len(own) == 1 and all(known.type is own[0].type for known in found):
        return own[0]  # its very name, where others have it as a part or an alias
    ranked = sorted(((weight(known, found, mention, aliases), known) for known in found), key=lambda each: -each[0])
    (best, known), (second, _) = ranked[0], ranked[1]
    return known if best > 0 and best - second > _LEAST_LEAD else None


def weight(known: Known, rivals: Sequence[Known], mention: Mention, aliases: Aliases) -> float:
    """How much the words around a mention speak for a rival: the nearer the more, and against it after "not"."""
    others = {word for rival in rivals if rival != known for name in aliases.names_of(rival) for word in parts(name)}
    own = (
        {word for name in aliases.names_of(known) for word in parts(name)} - others - set(mention.words) - stop_words()
    )
    total = 0.0
    for sign, distance, word in _around(mention):
        forms = base_forms(word, mention.languages)
        told = _NAME_CLUE if any(form in own for form in forms) else 0.0
        kinds = lexicon.speaks_for(word)
        if known.type in kinds and not all(rival.type in kinds for rival in rivals):
            told += _KIND_CLUE
        total += sign * told / (1 + distance / 6)
    return total


def _around(mention: Mention) -> list[tuple[float, int, str]]:
    """Each word near a mention: 1 or -1 (after "not"), how many words away, folded."""
    before = [fold(word) for word in WORD.findall(mention.text[max(0, mention.start - _REACH) : mention.start])]
    after = [fold(word) for word in WORD.findall(mention.text[mention.end : mention.end + _REACH])]
    found: list[tuple[float, int, str]] = []
    for words, distances in ((before, range(len(before), 0, -1)), (after, range(1, len(after) + 1))):
        for place, (word, distance) in enumerate(zip(words, distances, strict=True)):
            denied = any(lexicon.negates(each) for each in words[max(0, place - 2) : place])
            found.append((-1.0 if denied else 1.0, distance, word))
    return found


def _own_name(known: Known) -> str:
    return fold(known.name)
