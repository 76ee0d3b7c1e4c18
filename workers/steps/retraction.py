"""What a person takes back ends one block: the one that fits their words best, of those that held when it was said.

Facts and retractions arrive in any order and leave what the order of telling leaves. So each retraction is kept; what
arrives late and was said before it, is as if it had been there: a fact that fits better is ended in the other's stead,
and that one goes on. A fact that was told again afterwards goes on as another block from then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid5

from nextlevel.lang.tokens import content_words, words
from nextlevel.model import Block, BlockStatus
from nextlevel.store import blocks, retractions
from nextlevel.store.blocks import Rival
from nextlevel.store.pool import Connection
from nextlevel.store.retractions import Retraction
from nextlevel.store.turns import Claim

from . import timeline
from .applied import Applied, said, search_terms
from .dedup import Relation
from .extract.rules.focus import told_project

FITS_FROM = 0.6
"""Share of a retraction's content words that a block must hold to be the one that is meant."""
_LOOKED_AT = 20
_PERSON = "user"


def fit(retraction: Retraction, block: Block) -> float:
    """The share of a retraction's words that a block holds, 0..1; 0 where it can't be meant.

    A number must be the block's too, and the block of the project in which it was taken back, or of none, or about the
    person, who is the same in all. Its subject alone makes no block the one that is meant, where more was said.
    """
    if not _of_project(retraction, block) and block.subject != _PERSON:
        return 0.0
    wanted = set(content_words(retraction.said))
    held = set(content_words(f"{block.subject} {block.predicate} {block.object} {block.context}"))
    numbers = {word for word in wanted if word[:1].isdigit()}
    of_it = wanted - set(content_words(block.subject))
    if not wanted or not numbers <= held or (of_it and of_it.isdisjoint(held)):
        return 0.0
    share = len(wanted & held) / len(wanted)
    return share if share >= FITS_FROM else 0.0


def _of_project(retraction: Retraction, block: Block) -> bool:
    return retraction.project is None or block.project in (None, retraction.project)


async def take_back(conn: Connection, claim: Claim, texts: Collection[str], applied: Applied) -> None:
    """End what one turn takes back, inside the store transaction."""
    for number, text in enumerate(texts):
        new = Retraction(claim.turn.id, number, claim.turn.at, text, told_project(claim.turn))
        await retractions.add(conn, claim.scope, new)
        await settle_later(conn, claim, await _decide(conn, claim, new, applied), applied)


async def settle_later(conn: Connection, claim: Claim, changed: Iterable[Block], applied: Applied) -> None:
    """Decide anew what was taken back after this turn, where it may mean one of the blocks that this turn changed."""
    touched = {block.id: block for block in changed}
    if not touched:
        return
    of_person = any(block.scope_id == claim.scope.user_scope for block in touched.values())
    for later in await retractions.after(conn, claim.scope, claim.turn.at, of_person=of_person):
        # Asked each time: where a block goes on as another, what ended it has followed.
        now = replace(later, block_id=await retractions.ended(conn, claim.scope, later))
        if now.block_id in touched or any(fit(now, block) for block in touched.values()):
            touched |= {block.id: block for block in await _decide(conn, claim, now, applied)}


async def _decide(conn: Connection, claim: Claim, retraction: Retraction, applied: Applied) -> list[Block]:
    """Let a retraction end the block that it means by what is known now. Returns the blocks that this changes."""
    scope, at, ended = claim.scope, retraction.at, retraction.block_id
    ids = await retractions.may_mean(conn, scope, words(retraction.said), at, limit=_LOOKED_AT)
    known = await blocks.told(conn, scope, ids if ended is None else [*ids, ended])
    current = next((each for each in known if each.block.id == ended and _ended_at(each.block, at)), None)
    holding = [each for each in known if each.told[0] <= at and (each is current or each.block.id in ids)]
    best = max((each for each in holding if fit(retraction, each.block)), key=_rank(retraction), default=None)
    changed: list[Block] = []
    if best is not None and best is current:
        return changed
    if current is not None:
        changed += await _let_hold(conn, claim, retraction, current, applied)
    if best is not None:
        changed += await _end(conn, claim, retraction, best, applied)
    await retractions.settle(conn, scope, retraction, None if best is None else best.block.id)
    return changed


def _ended_at(block: Block, at: datetime) -> bool:
    return block.status is BlockStatus.EXPIRED and block.valid_to == max(block.valid_from, at)


def _rank(retraction: Retraction) -> Callable[[Rival], tuple[bool, float, datetime, UUID]]:
    """What is of the same project first, then the better fit, then what was told last before it was taken back."""

    def rank(each: Rival) -> tuple[bool, float, datetime, UUID]:
        told = max(told for told in each.told if told <= retraction.at)
        return _of_project(retraction, each.block), fit(retraction, each.block), told, each.block.id

    return rank


async def _end(conn: Connection, claim: Claim, retraction: Retraction, ended: Rival, applied: Applied) -> list[Block]:
    scope, block = claim.scope, ended.block
    await blocks.retract(conn, scope, block, at=retraction.at, caused_by=retraction.turn_id)
    applied.changed(block, "retracted", retraction.said)
    again = next((told for told in ended.told if told > retraction.at), None)
    if again is None:
        return [block]
    told_as = await blocks.told_as(conn, scope, block, again)
    anew = told_as or uuid5(block.id, f"told again after {retraction.turn_id}")
    await blocks.resume(
        conn, scope, block, anew=anew, at=again, words=search_terms(block), caused_by=retraction.turn_id
    )
    await retractions.follow(conn, scope, block.id, anew, after=retraction.at)
    return [block, replace(block, id=anew)]


async def _let_hold(
    conn: Connection, claim: Claim, retraction: Retraction, ended: Rival, applied: Applied
) -> list[Block]:
    """Let a block hold again that was not meant after all: until what was told since repeats or replaces it."""
    scope, block = claim.scope, ended.block
    known = await blocks.rivals_of(conn, scope, block, words(said(block)))
    after = timeline.follower(ended, known)
    applied.changed(block, "restored", "another was meant")
    if after is None:
        await blocks.undo_retraction(conn, scope, block, caused_by=claim.turn.id)
        return [block]
    follower, relation = after
    other = follower.block
    end: tuple[BlockStatus, datetime | None, UUID | None]
    if relation is Relation.SAME:
        end = other.status, other.valid_to, other.superseded_by
        await blocks.supersede(conn, scope, other, by=block.id, at=other.valid_from, caused_by=claim.turn.id)
        await blocks.share_sources(conn, scope, follower, block.id)
        await retractions.follow(conn, scope, other.id, block.id, after=retraction.at)
    else:
        end = BlockStatus.SUPERSEDED, max(block.valid_from, other.valid_from), other.id
    await blocks.reinstate(conn, scope, block, *end, caused_by=claim.turn.id)
    return [block, other]
