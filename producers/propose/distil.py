"""Entries distilled from blocks: what is worth a place in every prompt, the most told first, as far as the budget goes.

USER.md gets what the user is and likes, MEMORY.md what is so in their projects. Procedures become skills, and a state
that moves (a branch, a date, "since Friday") is left to recall.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from nextlevel.model import BlockType, Provenance

from .facts import Fact, is_passing
from .files import DELIMITER, Change, MemoryFile
from .guard import LONGEST, why_not
from .proposal import Proposal, evidence
from .skills import is_procedure

MOST_LOOKED_AT = 80
"""Facts whose turns are asked for."""
_MOVES = frozenset({"branch", "deadline", "go_live", "date", "version"})
_PASSES = frozenset({"left", "away", "available"})
_FEWEST_DAYS = 2
"""On which a project's state was told, unless the user asked to remember it."""
_WORTH = {
    BlockType.USER_PREFERENCE: 2.0,
    BlockType.LEARNED_PATTERN: 1.5,
    BlockType.ENTITY_RELATIONSHIP: 1.0,
    BlockType.PROJECT_STATE: 0.5,
    BlockType.PROCEDURAL: 0.5,
}
_IN_ONE_PROJECT = 0.75
"""What the user wants in one project only."""
_POINTS_BACK = re.compile(r"(?:it|this|that)\b", re.IGNORECASE)


def candidates(facts: Iterable[Fact], standing: Collection[frozenset[str]]) -> list[Fact]:
    """The facts that could become entries, best first, without those that some text of the prompt says already."""
    found = [fact for fact in facts if _fits(fact) and not any(fact.core <= said for said in standing)]
    return sorted(found, key=_worth, reverse=True)[:MOST_LOOKED_AT]


def additions(facts: Iterable[Fact], files: Mapping[str, MemoryFile]) -> tuple[list[Proposal], dict[str, int]]:
    """New entries for each file, made of facts with their sources; and how many more would not fit, by file."""
    used = {target: file.used for target, file in files.items()}  # as if all before it had been accepted
    left_out = dict.fromkeys(files, 0)
    proposals: list[Proposal] = []
    for fact in sorted(facts, key=_worth, reverse=True):
        target, entry = "user" if fact.about_user else "memory", fact.sentence
        if target not in files or not _is_proved(fact) or not _may_stand(entry):
            continue
        cost = len(entry) + (len(DELIMITER) if used[target] else 0)
        if used[target] + cost > files[target].limit:
            left_out[target] += 1
            continue
        used[target] += cost
        proposals.append(Proposal(Change(target, new=entry), _why(fact), evidence([fact]), fact=fact.statement))
    return proposals, left_out


def _fits(fact: Fact) -> bool:
    if not fact.may_be_proposed or not fact.core or is_procedure(fact):
        return False
    passes = fact.key in _MOVES or fact.predicate in _PASSES
    if fact.type is not BlockType.USER_PREFERENCE:
        passes = passes or is_passing(f"{fact.subject} {fact.object}")
    nowhere = fact.project is None and (fact.subject == "project" or fact.is_local)
    return not passes and not nowhere and _POINTS_BACK.match(fact.object) is None and _may_stand(fact.sentence)


def _may_stand(entry: str) -> bool:
    return len(entry) <= LONGEST and "\n" not in entry and why_not(entry) is None


def _is_proved(fact: Fact) -> bool:
    passing = fact.type is BlockType.PROJECT_STATE and not fact.explicit
    return fact.days >= (_FEWEST_DAYS if passing else 1)


def _worth(fact: Fact) -> float:
    kind = _WORTH[fact.type] if fact.is_general or not fact.about_user else _IN_ONE_PROJECT
    return 3.0 * fact.explicit + min(len(fact.sources), 4) + kind + fact.confidence


def _why(fact: Fact) -> str:
    if fact.explicit:
        return "you asked to remember it"
    if fact.provenance is Provenance.INFERRED:
        return f"never said: your {'runs' if fact.type is BlockType.PROCEDURAL else 'choices'} show it"
    turns = len({source.turn for source in fact.sources})
    return f"told in {turns} turns" if turns > 1 else "told once"
