"""What a memory is about beside its subject: the names in the words around it, and the project in focus.

More freely than names.py, whose finds are also a reason to keep a statement: here capitals, quotation marks or a
ticket's form are enough, and what kind of thing it is may stay open (`topic`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from nextlevel.lang.tokens import fold, stop_words
from nextlevel.model import Candidate, EntityType

from ... import temporal
from .focus import Focus
from .names import names, technology
from .pack import Pack

_QUOTED = re.compile(r"[„“\"«]([\w][\w .&-]{1,38}\w)[“”\"»]")
_CODED = re.compile(r"(?<![\w/@.-])([A-Z]{2,6}-\d{1,6}|[A-Za-z][^\W\d_A-Z]+[A-Z]\w+)(?![\w/@-])")
_PROPER = re.compile(r"(?<=[\w,;:)] )((?:[A-ZÀ-ÞŁŚŻŹĆ][\w&-]*\w)(?: [A-ZÀ-ÞŁŚŻŹĆ][\w&-]*\w){0,2})(?![\w/@])")
_MOST = 12
"""Names of one sentence; more is a list, and the sentence about none of them."""


def spoken_of(candidate: Candidate, around: str, pack: Pack | None, focus: Focus) -> tuple[tuple[str, EntityType], ...]:
    """The candidate's entities, those that the words around it name, and the project it is a fact of."""
    told = list(candidate.entities)
    here = candidate.subject != "user" or (pack is not None and pack.has("here", around))
    if focus.project is not None and here:
        told.append((focus.project, EntityType.PROJECT))
    if pack is not None:
        # Capitals in a language that has none are those of English words.
        told += _named(around, pack.language if pack.spaced else "en", pack.nouns_capitalised)
    first: dict[str, tuple[str, EntityType]] = {}
    for name, kind in told:
        first.setdefault(name.casefold(), (name, kind))
    return tuple(first.values())


def is_known(word: str, language: str) -> bool:
    """Whether a capitalised word is that of a day or of a technology, and nobody's name."""
    return technology().search(word) is not None or temporal.is_of_calendar(word, language)


@lru_cache(maxsize=512)
def _named(text: str, language: str, nouns_capitalised: bool) -> list[tuple[str, EntityType]]:
    found = [(name.start, name.text, name.type) for name in names(text, full_names=not nouns_capitalised)]
    for start, name in _shown(text, nouns_capitalised):
        if fold(name.split()[0]) in stop_words(language):  # "note: The key is …"
            continue
        free = not any(start < at + len(known) and at < start + len(name) for at, known, _ in found)
        if free and not is_known(name, language) and not is_known(name.rstrip("s"), language):
            found.append((start, name, EntityType.TOPIC))
    return [(name, kind) for _, name, kind in sorted(found)] if len(found) <= _MOST else []


def _shown(text: str, nouns_capitalised: bool) -> Iterator[tuple[int, str]]:
    """Names by their form. Where every noun has a capital, capitals show nothing; a word of capitals only shouts."""
    for pattern in (_QUOTED, _CODED) if nouns_capitalised else (_QUOTED, _CODED, _PROPER):
        for match in pattern.finditer(text):
            if not match[1].isupper() or "-" in match[1]:
                yield match.start(1), match[1]
