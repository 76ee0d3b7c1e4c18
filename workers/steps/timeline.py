"""Where a fact belongs among those told before and after it: what it confirms, what it ends, and what has ended it.

A fact holds from its start until the first that was told after it and replaces it. So it does not matter in which order
facts arrive: an import of last month after today leaves the same as the import first. Pure: no store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from nextlevel.model import Candidate
from nextlevel.store.blocks import Rival

from . import dedup
from .dedup import Judged, Relation, Verdict
from .extract.rules.focus import NOBODYS

RULES_ALONE = Judged()


@dataclass(frozen=True, slots=True)
class Place:
    """What a new fact does to those that are known. With `confirms`, nothing is new but a source.

    `confirms` says the same, `closes` end at the new fact's start, `ended_by` was told later and ends it, `absorbs`
    were told later and say less. `resumes`, one of `closes`, was told again after the new fact, first at `resumes_at`.
    """

    verdict: Verdict
    why: str
    confirms: Rival | None = None
    closes: tuple[Rival, ...] = ()
    ended_by: Rival | None = None
    absorbs: tuple[Rival, ...] = ()
    resumes: Rival | None = None
    resumes_at: datetime | None = None

    @property
    def end(self) -> tuple[datetime | None, UUID | None]:
        """When the new fact ended, and what followed: None where it holds."""
        if self.ended_by is not None:
            return self.ended_by.block.valid_from, self.ended_by.block.id
        # It stands for what it absorbs, and ended when that did.
        last = self.absorbs[-1].block if self.absorbs else None
        return (
            (last.valid_to, last.superseded_by) if last is not None and last.superseded_by is not None else (None, None)
        )


def place(
    new: Candidate,
    since: datetime,
    told_at: datetime,
    session: str,
    known: Sequence[Rival],
    judged: Judged = RULES_ALONE,
) -> Place:
    """Find the place of a fact that was told in a session at `told_at`, and holds from `since`."""
    if new.subject == NOBODYS and new.project is None:
        # "The port is 8091": of which project, only this session knows.
        known = [k for k in known if session in k.sessions]
    earlier = [k for k in known if k.told[0] <= told_at and (k.block.valid_to is None or k.block.valid_to > since)]
    later = _told_after(told_at, known)
    met = [(k, how) for k in earlier if (how := judged.relate(new, k.block)) is not None]
    decision = dedup.weigh([(how, k.block) for k, how in met])
    if decision.verdict is Verdict.SAME:
        return Place(decision.verdict, decision.why, next(k for k in earlier if k.block is decision.rival))
    replaced = [(k, how) for k, how in met if how.covers]
    closes = tuple(k for k, _ in replaced)
    again = [(at, k) for k, how in replaced if how.relation is Relation.UPDATES for at in k.told if at > told_at]
    back_at, back = min(again, key=lambda telling: telling[0], default=(None, None))
    absorbs: list[Rival] = []
    for k in later:
        if back_at is not None and back_at < k.told[0]:
            break
        after = judged.relate(k.block, new)
        if after is None or not after.covers:
            continue
        if after.relation is not Relation.SAME:
            return Place(decision.verdict, decision.why, None, closes, k, tuple(absorbs))
        before = judged.relate(new, k.block)
        if before is not None and before.relation is Relation.SAME:
            return Place(Verdict.SAME, after.why, k, closes, None, tuple(absorbs))
        absorbs.append(k)
    return Place(decision.verdict, decision.why, None, closes, None, tuple(absorbs), back, back_at)


def follower(fact: Rival, known: Sequence[Rival]) -> tuple[Rival, Relation] | None:
    """The first that was told after a fact and says all of it, and how: with it the fact ends, or goes on."""
    for k in _told_after(fact.told[-1], known):
        after = dedup.relate(k.block, fact.block)
        if after is not None and after.covers:
            return k, after.relation
    return None


def _told_after(moment: datetime, known: Sequence[Rival]) -> list[Rival]:
    return sorted((k for k in known if k.told[0] > moment), key=lambda k: (k.told[0], k.block.id))
