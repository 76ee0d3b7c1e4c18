"""Entries distilled from blocks: what is worth a place in every prompt, the most told first, as far as the budget goes.

USER.md gets what the user is and likes, MEMORY.md what is so in their projects. Procedures become skills, and a state
that moves (a branch, a date) is left to recall. Facts about the same thing share an entry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from nextlevel.model import BlockType, Provenance

from .facts import Fact
from .files import DELIMITER, Change, MemoryFile
from .guard import LONGEST, why_not
from .proposal import Proposal, evidence
from .skills import is_procedure

MOST_LOOKED_AT = 40
"""Facts whose turns are asked for."""
_MOVES = frozenset({"branch", "deadline", "go_live", "date", "version"})
_FEWEST_DAYS = 2
"""On which a project's state was told, unless the user asked to remember it."""
_MOST_TOGETHER = 3
_WORTH = {
    BlockType.USER_PREFERENCE: 2.0,
    BlockType.LEARNED_PATTERN: 1.5,
    BlockType.ENTITY_RELATIONSHIP: 1.0,
    BlockType.PROJECT_STATE: 0.5,
    BlockType.PROCEDURAL: 0.5,
}


def candidates(facts: Iterable[Fact], standing: Collection[frozenset[str]]) -> list[Fact]:
    """The facts that could become entries, best first, without those that some text of the prompt says already."""
    found = [fact for fact in facts if _fits(fact) and not any(fact.core <= said for said in standing)]
    return sorted(found, key=_worth, reverse=True)[:MOST_LOOKED_AT]


def additions(facts: Sequence[Fact], files: Mapping[str, MemoryFile]) -> tuple[list[Proposal], dict[str, int]]:
    """New entries for each file, made of facts with their sources; and how many more would not fit, by file."""
    proved = [fact for fact in facts if _is_proved(fact)]
    used = {target: file.used for target, file in files.items()}  # as if all before it had been accepted
    left_out = dict.fromkeys(files, 0)
    proposals: list[Proposal] = []
    for together in _grouped(sorted(proved, key=_worth, reverse=True)):
        target, entry = target_of(together[0]), _entry(together)
        if target not in files:
            continue
        cost = len(entry) + (len(DELIMITER) if used[target] else 0)
        if used[target] + cost > files[target].limit:
            left_out[target] += 1
            continue
        used[target] += cost
        proposals.append(Proposal(Change(target, new=entry), _why(together), evidence(together)))
    return proposals, left_out


def target_of(fact: Fact) -> str:
    return "user" if fact.about_user else "memory"


def _fits(fact: Fact) -> bool:
    if not fact.may_be_proposed or not fact.core or is_procedure(fact) or fact.key in _MOVES:
        return False
    nobodys = fact.subject == "project" and fact.project is None
    return (
        not nobodys and len(fact.sentence) <= LONGEST and "\n" not in fact.sentence and why_not(fact.sentence) is None
    )


def _is_proved(fact: Fact) -> bool:
    days = {source.day for source in fact.sources}
    passing = fact.type is BlockType.PROJECT_STATE and not fact.explicit
    return len(days) >= (_FEWEST_DAYS if passing else 1)


def _worth(fact: Fact) -> float:
    told = min(len(fact.sources), 4)
    return 3.0 * fact.explicit + told + _WORTH[fact.type] + fact.confidence


def _grouped(facts: Sequence[Fact]) -> list[list[Fact]]:
    """Facts that can be told in one entry, in the order of the best of each; of the user only by the same verb."""
    groups: dict[tuple[str, ...], list[list[Fact]]] = defaultdict(list)
    order: list[list[Fact]] = []
    for fact in facts:
        key = (fact.heading, fact.predicate, str(fact.negated)) if fact.about_user else (fact.heading,)
        last = groups[key][-1] if groups[key] and fact.predicate != "noted" else []
        if last and len(last) < _MOST_TOGETHER and len(_entry([*last, fact])) <= LONGEST:
            last.append(fact)
            continue
        order.append([fact])
        groups[key].append(order[-1])
    return order


def _entry(together: Sequence[Fact]) -> str:
    first, *others = together
    more = [fact.object if fact.about_user else fact.phrase for fact in others]
    return "; ".join([first.sentence, *more])


def _why(together: Sequence[Fact]) -> str:
    if any(fact.explicit for fact in together):
        return "you asked to remember it"
    if any(fact.provenance is Provenance.INFERRED for fact in together):
        return "never said: your choices show it"
    turns = len({source.turn for fact in together for source in fact.sources})
    return f"told in {turns} turns" if turns > 1 else "told once"
