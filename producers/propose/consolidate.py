"""Room in a file that is nearly full: entries that hold no longer, that say the same, that memory keeps anyway.

In this order, and an entry is in one proposal at most, so that all of them can be accepted. What holds no longer is
shown however full a file is; the rest above 80 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from nextlevel.model import BlockType

from .facts import Fact, negates, parts, words
from .files import DELIMITER, Change, MemoryFile
from .guard import LONGEST, why_not
from .proposal import Proposal, evidence

FULL = 0.8
_SHORTEST_PREFIX, _FEWEST_WORDS = 8, 2
_SENTENCES = re.compile(r"[.!?]\s|\n")


@dataclass(frozen=True, slots=True)
class Outdated:
    """A part of an entry that says what was so before `new`."""

    file: MemoryFile
    entry: str
    part: str
    old: Fact
    new: Fact

    @property
    def proposal(self) -> Proposal | str:
        """The entry with what is so now; a text for a person where no wording offers itself."""
        alone = words(self.part) == words(self.entry)
        text = _put(self.part, self.old, self.new) or (self.new.sentence if alone else None)
        if text is None or why_not(text) or len(text) > LONGEST:
            return f"{self.file.path.name} is out of date: {self.entry!r}, but now: {self.new.sentence}"
        elsewhere = any(_says(each, self.new) for each in self.file.entries if each != self.entry)
        now = "" if alone and elsewhere else self.entry.replace(self.part, text, 1)
        won = len(self.entry) - len(now) if now else _cost(self.entry)
        change = Change(self.file.target, (self.entry,), now or None)
        return Proposal(change, f"holds no longer; now: {self.new.sentence}", evidence([self.new]), won)


def outdated(files: Iterable[MemoryFile], facts: Mapping[str, Fact]) -> list[Outdated]:
    """The entries that say what a newer block has replaced.

    `facts` by id are the blocks that hold, and the superseded ones: with their sources, if `touched`.
    """
    ended = [(old, new) for old in facts.values() if (new := _now(old, facts)) is not None]
    found: list[Outdated] = []
    for file in files:
        for entry in file.entries:
            for old, new in ended:
                part = old.part_of(entry)
                if part is not None and not _says(entry, new):
                    found.append(Outdated(file, entry, part, old, new))
                    break
    return found


def merges(files: Sequence[MemoryFile], taken: frozenset[str]) -> list[Proposal]:
    """Entries of which one says all that another does, and entries that begin with the same words."""
    found: list[Proposal] = []
    gone = set(taken)
    said = [(file, entry) for file in files for entry in file.entries]
    for file, entry in said:
        fuller = None if entry in gone else _fuller(entry, [other for _, other in said if other not in gone])
        if fuller is not None:
            gone |= {entry, fuller}
            found.append(Proposal(Change(file.target, (entry,)), f"another says it too: {fuller}", won=_cost(entry)))
    for file in files:
        for one, other in combinations(file.entries, 2):
            joined = None if {one, other} & gone else _joined(one, other)
            if joined is not None and why_not(joined) is None:
                gone |= {one, other}
                won = len(one) + _cost(other) - len(joined)
                found.append(Proposal(Change(file.target, (one, other), joined), "they begin alike", won=won))
    return found


def safe(file: MemoryFile, facts: Sequence[Fact], taken: frozenset[str]) -> list[Proposal]:
    """Entries whose every word long-term memory holds, from turns in which somebody said it, the least standing first.

    `facts` come with just these sources: what stands on the entry alone goes with it.
    """
    found: list[tuple[bool, int, Proposal]] = []
    for entry in file.entries:
        about = words(entry)
        kept = [fact for fact in facts if fact.sources and fact.core and fact.core <= about]
        held = frozenset().union(*(fact.words.union(*(words(each.span) for each in fact.sources)) for fact in kept))
        if entry in taken or not about or not about <= held or any(fact.denies != negates(entry) for fact in kept):
            continue
        standing = any(fact.type is BlockType.USER_PREFERENCE for fact in kept)
        proposal = Proposal(
            Change(file.target, (entry,)),
            "long-term memory has it, and recalls it when it fits",
            evidence(kept),
            won=_cost(entry),
        )
        found.append((standing, -proposal.won, proposal))
    return [proposal for _, _, proposal in sorted(found, key=lambda each: each[:2])]


def entries_of(proposals: Iterable[Proposal | str]) -> frozenset[str]:
    """The entries that some proposals would change."""
    changes = (each.change for each in proposals if isinstance(each, Proposal))
    return frozenset(old for change in changes if isinstance(change, Change) for old in change.old)


def touched(facts: Iterable[Fact], files: Iterable[MemoryFile]) -> list[Fact]:
    """The facts that some entry could be about: those whose turns are worth asking for."""
    about = [words(entry) for file in files for entry in file.entries]
    return [fact for fact in facts if fact.core and any(fact.core <= each for each in about)]


def _now(old: Fact, by_id: Mapping[str, Fact]) -> Fact | None:
    """What a superseded fact became in the end, where that holds and may be proposed."""
    fact: Fact | None = old
    while fact is not None and fact.superseded_by is not None:  # a line of blocks, which has an end
        fact = by_id.get(fact.superseded_by)
    return fact if fact is not None and fact is not old and fact.may_be_proposed else None


def _says(entry: str, fact: Fact) -> bool:
    return fact.core <= words(entry) and any(negates(part) == fact.denies for part in parts(entry))


def _put(part: str, old: Fact, new: Fact) -> str | None:
    """The new value in the place of the old, in the words of who wrote the entry."""
    if old.negated != new.negated:
        return None
    for was, now in ((old.value, new.value), (old.object, new.object)):
        if was and now:
            places = [*re.finditer(rf"(?<!\w){re.escape(was)}(?!\w)", part, re.IGNORECASE)]
            if len(places) == 1:
                return part[: places[0].start()] + now + part[places[0].end() :]
    return None


def _fuller(entry: str, others: Iterable[str]) -> str | None:
    """An entry with all the words of this one, which says them likewise."""
    about = words(entry)
    alike = (each for each in others if each != entry and about <= words(each) and negates(each) == negates(entry))
    return next(alike, None) if about else None


def _joined(one: str, other: str) -> str | None:
    """Two one-line entries as one, where they begin with the same words; None where not, or where nothing is won."""
    if _SENTENCES.search(one) or _SENTENCES.search(other) or negates(one) != negates(other):
        return None
    heads, tails = one.split(" "), other.split(" ")
    same = next((n for n, (a, b) in enumerate(zip(heads, tails, strict=False)) if a != b), 0)
    prefix = " ".join(heads[:same])
    long = len(prefix) >= _SHORTEST_PREFIX and (same >= _FEWEST_WORDS or prefix.endswith(":"))
    if not long or same >= min(len(heads), len(tails)):
        return None
    joined = f"{one.rstrip('.')}; {' '.join(tails[same:])}"
    return joined if len(joined) <= LONGEST else None


def _cost(entry: str) -> int:
    return len(entry) + len(DELIMITER)
