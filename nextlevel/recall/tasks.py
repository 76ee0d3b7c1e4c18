"""Standing rules by kind of task: "tables compact with │" must be there when a comparison is asked for.

That is no likeness: "compare prisma and drizzle" shares nothing with the rule. So a request is read for the kind of
task it sets, a rule for the kinds it holds for, and they meet there. The words are in tasks.toml.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from nextlevel.lang.roots import root
from nextlevel.lang.tokens import fold, words
from nextlevel.model import Block, BlockType, Category

from .asked import asks_for_a_fact
from .source import Entry, sentence

MOST_RULES = 4
_HEAD_CHARS = 400
"""What is asked for stands at the head of a message; what is pasted below it asks for nothing."""
# What is pointed at is given, and not asked for: "sort this list".
_GIVEN = re.compile(
    r"\b(?:this|that|these|those|dies\w{1,2}|den har|det har|de har|denna|detta|dessa|te|ten|tego|tej|tych) \w+"
)
_PROJECT_ONLY = re.compile(
    r"\b(?:this|that|the) (?:project|repo)\b|\b(?:dem|diesem|im) projekt\b|\bprojektet\b|\bprojekcie\b"
)


@dataclass(frozen=True, slots=True)
class _Words:
    """Words to meet: single ones by root, phrases as they stand."""

    roots: frozenset[str]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, listed: Iterable[str]) -> _Words:
        folded = [fold(each) for each in listed]
        single = frozenset(root(words(each)[0]) for each in folded if " " not in each and words(each))
        return cls(single, tuple(each for each in folded if " " in each))

    def met(self, folded: str, said: frozenset[str]) -> bool:
        return not self.roots.isdisjoint(said) or any(f" {phrase} " in f" {folded} " for phrase in self.phrases)


@dataclass(frozen=True, slots=True)
class _Kind:
    ask: _Words
    compare: _Words
    rule: _Words
    else_rule: _Words
    category: Category | None
    needs: str | None


def kinds_asked(text: str) -> frozenset[str]:
    """The kinds of task that a message sets. One that wants to know something sets none, unless it has to compare."""
    folded, said = _read(_GIVEN.sub(" ", fold(text[:_HEAD_CHARS])))
    fact = asks_for_a_fact(text)
    asked = {name for name, kind in _kinds().items() if (kind.compare if fact else kind.ask).met(folded, said)}
    return frozenset(name for name in asked if _kinds()[name].needs in (None, *asked))


def kinds_ruled(block: Block) -> frozenset[str]:
    """The kinds of task that a rule holds for."""
    folded, said = _read(sentence(block))
    ruled = {name for name, kind in _kinds().items() if kind.rule.met(folded, said)}
    if not ruled and block.type is BlockType.USER_PREFERENCE:
        ruled = {
            name
            for name, kind in _kinds().items()
            if kind.else_rule.met(folded, said) or kind.category is block.category
        }
    return frozenset(ruled)


def holds_in(block: Block, project: str | None) -> bool:
    """True unless a rule was given for another project than the one in focus."""
    if block.project is None or block.project == project:
        return True
    if project is not None and block.subject != "user":
        return False  # how the things of a project are to be, and not what the person likes
    return _PROJECT_ONLY.search(fold(f"{sentence(block)} {block.context}")) is None


def rules_for(text: str, rules: Sequence[Entry], project: str | None) -> list[Entry]:
    """The rules that hold for the task which a message sets, the surest and newest first."""
    asked = kinds_asked(text)
    if not asked:
        return []
    fitting = [each for each in rules if kinds_ruled(each.found.block) & asked and holds_in(each.found.block, project)]
    return sorted(fitting, key=lambda each: _standing(each.found.block))[:MOST_RULES]


def _standing(block: Block) -> tuple[bool, float, float, str]:
    return not block.explicit, -block.confidence, -block.valid_from.timestamp(), str(block.id)


def _read(text: str) -> tuple[str, frozenset[str]]:
    folded = re.sub(r"[^\w\s.+-]", " ", fold(text))
    return " ".join(folded.split()), frozenset(root(word) for word in words(text))


@cache
def _kinds() -> dict[str, _Kind]:
    table = tomllib.loads((files(__package__) / "tasks.toml").read_text(encoding="utf-8"))
    return {
        name: _Kind(
            _Words.of([*kind["ask"], *kind.get("compare", ())]),
            _Words.of(kind.get("compare", ())),
            _Words.of(kind["rule"]),
            _Words.of(kind.get("else_rule", ())),
            Category(kind["category"]) if "category" in kind else None,
            kind.get("needs"),
        )
        for name, kind in table.items()
    }
