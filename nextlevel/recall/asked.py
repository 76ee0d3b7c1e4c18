"""What a question asks for: who, when, where or how; what kind of thing; and which of its words say little of it."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from nextlevel.lang.lexicon import synonyms
from nextlevel.lang.tokens import fold, words
from nextlevel.model import Block, BlockType, Category

_DATE = re.compile(
    r"\b(?:\d{1,2}\.?\s?(?:jan|feb|mar|mär|apr|may|mai|maj|jun|jul|aug|sep|okt|oct|nov|dec|dez|stycz|lut|kwie|czerw|lip|"
    r"sierp|wrze|paź|list|grud)|\d{4}-\d\d-\d\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{1,2}(?:st|nd|rd|th)\b)",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[.!?]\s")
_NO_KIND = frozenset({"other", "kinds"})


@dataclass(frozen=True, slots=True)
class Kind:
    """What a question word asks for, and what that weighs beside the words of the question."""

    name: str
    predicates: frozenset[str]
    types: frozenset[BlockType]
    category: Category | None
    weight: float

    def is_answered_by(self, block: Block) -> bool:
        """True if a block is of the kind that is asked for, whatever it says."""
        return (
            block.predicate in self.predicates
            or block.type in self.types
            or block.category is self.category
            or (self.name == "when" and names_a_day(f"{block.object} {block.context}"))
        )


def kind(text: str) -> Kind | None:
    """What the first question word of a text asks for; None where there is none, or one like "what"."""
    asked, _ = _kinds()
    return next((asked[word] for word in map(_bare, text.split()) if word in asked), None)


def is_question(text: str) -> bool:
    """True for a text that is one question, with or without its mark: it tells nothing.

    >>> is_question("wie wird das wetter morgen"), is_question("is it? yes. it runs on 8080")
    (True, False)
    """
    asked, other = _kinds()
    first = next(map(_bare, text.split()), "")
    return (first in asked or first in other) and _SENTENCE_ENDS.search(text) is None


def asks_for_a_fact(text: str) -> bool:
    """True for a question that wants to know something, where another wants something done ("how do I", "can you").

    >>> asks_for_a_fact("which table?"), asks_for_a_fact("how did we fix it?"), asks_for_a_fact("can you list them?")
    (True, True, False)
    """
    said = [_bare(word) for word in text.split()[:2]]
    asked, other = _kinds()
    if not said or not said[0] or said[0] in _polite():
        return False
    if said[0] in asked and asked[said[0]].name == "how":
        return said[-1] in _table()["other"]["past"].split()
    return said[0] in asked or said[0] in other


def names_a_day(text: str) -> bool:
    """True if a text says a date or a day of the week."""
    return _DATE.search(text) is not None


def is_common(word: str) -> bool:
    """True for a word, as texts are indexed by it, with which a question is put: it says little of what is asked."""
    return word in _common()


def members(word: str) -> frozenset[str]:
    """What there is of the kind that a word names, as texts are indexed by it: for "linter" also "ruff"."""
    return _members().get(word, frozenset())


def _bare(word: str) -> str:
    return fold(word.strip("?,.!:;"))


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files(__package__) / "asked.toml").read_text(encoding="utf-8"))


@cache
def _kinds() -> tuple[dict[str, Kind], frozenset[str]]:
    """Each question word with what it asks for, and those that ask for nothing of a kind."""
    asked: dict[str, Kind] = {}
    for name, row in _table().items():
        if name in _NO_KIND:
            continue
        made = Kind(
            name,
            frozenset(row["predicates"]),
            frozenset(BlockType(each) for each in row.get("types", ())),
            Category(row["category"]) if "category" in row else None,
            row["weight"],
        )
        asked |= {fold(word): made for word in row["ask"].split()}
    return asked, _polite() | {fold(word) for word in _table()["other"]["ask"].split()}


@cache
def _polite() -> frozenset[str]:
    return frozenset(fold(word) for word in _table()["other"]["polite"].split())


@cache
def _members() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    kinds = _table()["kinds"]
    for named, listed in kinds.items():
        names = " ".join(kinds.get(each, each) for each in listed.split())
        held = frozenset(word for each in names.split() for word in words(each)[:1])
        for word in (named, *synonyms(named)):
            for said in words(word)[:1]:
                found[said] = found.get(said, frozenset()) | held
    return found


@cache
def _common() -> frozenset[str]:
    lines = (files(__package__) / "common.txt").read_text("utf-8").splitlines()
    return frozenset(
        word for line in lines if not line.startswith("#") for each in line.split() for word in words(each)[:1]
    )
