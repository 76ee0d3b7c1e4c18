"""In which sessions it was spoken of: date, what each came to, its best quotes, and what has become of what it told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from nextlevel.lang.roots import root
from nextlevel.lang.tokens import words
from nextlevel.model import Block, BlockStatus, Scope, block_text
from nextlevel.safety.injection import suspicious
from nextlevel.safety.markers import escape
from nextlevel.store import passages, sessions
from nextlevel.store.passages import Said
from nextlevel.store.pool import Connection

from . import past, render
from .answer import Change, Discussed, Passage
from .passages import Heard, Sought

_MOST, _QUOTES, _LOOKED_AT, _CHANGES = 3, 2, 6, 3


async def discussed(
    conn: Connection, scope: Scope, heard: Sequence[Heard], sought: Sought, *, asking: str | None, now: datetime
) -> tuple[Discussed, ...]:
    """The sessions that speak most of it, those of the time that was named first; not the one that asks.

    Where a time is named and only others speak of it, those are given, and say so.
    """
    spoken: dict[str, list[Heard]] = {}
    for each in heard:
        if past.speaks_of_it(each) and each.passage.session != asking:
            spoken.setdefault(each.passage.session, []).append(each)
    ordered = sorted(spoken, key=lambda session: not _in_time(spoken[session], sought))
    found = [await _session(conn, scope, each, spoken[each], sought, now) for each in ordered[:_MOST]]
    return tuple(each for each in found if each is not None)


def _in_time(heard: Iterable[Heard], sought: Sought) -> bool:
    return sought.when is None or any(sought.when.fits(each.passage.at.toordinal()) for each in heard)


async def _session(
    conn: Connection, scope: Scope, session: str, heard: Sequence[Heard], sought: Sought, now: datetime
) -> Discussed | None:
    """One session; None where nothing of it may be shown any more."""
    best = sorted(heard, key=lambda each: each.passage.weak)[:_LOOKED_AT]
    said = await passages.said(conn, scope, [each.passage.turn_id for each in best])
    quotes = [quote for each in best if (quote := _quote(said.get(each.passage.turn_id), each)) is not None]
    if not quotes:
        return None
    digest = await sessions.digest(conn, scope, session) or {}
    return Discussed(
        session=session,
        at=quotes[0].at,
        in_time=_in_time(heard, sought),
        quotes=tuple(quotes[:_QUOTES]),
        title=next(iter(_shown([digest.get("title", "")])), ""),
        topics=_shown(digest.get("topics", ())),
        decisions=_shown(each["text"] for each in digest.get("decisions", ())),
        open_ends=_shown(each["text"] for each in digest.get("open_ends", ())),
        ended_with=_ended_with(digest),
        changes=_changes(await sessions.learnt(conn, scope, session), sought, now),
    )


def _quote(said: Said | None, heard: Heard) -> Passage | None:
    if said is None:
        return None
    quote = past.quote(said, heard.matched)
    return None if past.gives_orders(quote) else Passage(said.turn_id, said.session, said.at, quote.text)


def _shown(texts: Iterable[str]) -> tuple[str, ...]:
    """Those that are no orders: a digest holds whatever a speaker pasted."""
    return tuple(escape(text) for text in texts if text and suspicious(text) is None)


def _ended_with(digest: dict[str, Any]) -> tuple[str, ...]:
    state = digest.get("state", {})
    return _shown(state.get(side, "") for side in ("user", "assistant"))


def _changes(learnt: Sequence[tuple[Block, Block]], sought: Sought, now: datetime) -> tuple[Change, ...]:
    """What was learnt of what is asked for, and what of it holds."""
    about = frozenset(word for term in sought.about for word in term.words)
    fitting = [(then, last) for then, last in learnt if about & _roots(then)]
    return tuple(
        Change(
            render.line(then, now=now, as_of=then.valid_from),
            render.line(last, now=now) if _holds(last) else None,
        )
        for then, last in fitting[:_CHANGES]
    )


def _roots(block: Block) -> set[str]:
    text = f"{block_text(block.subject, block.predicate, block.object)} {block.context} {block.project or ''}"
    return {root(word) for word in words(text)}


def _holds(block: Block) -> bool:
    over = block.valid_to is not None and block.valid_to <= datetime.now(UTC)
    return block.status is BlockStatus.ACTIVE and not over
