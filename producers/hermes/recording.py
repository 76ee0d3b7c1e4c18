"""Keeping turns: a completed one goes to tier 2. Some bring orders: turns are taken back, or a session is left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nextlevel.event import MAX_SESSION_CHARS
from nextlevel.producers.shortterm import outbox
from nextlevel.producers.shortterm.outbox import Draft
from nextlevel.producers.shortterm.search import hide, recent

from . import VERSION, offrecord, project
from .home import Home
from .inprompt import InPrompt
from .ledger import Ledger
from .rewind import LOOK_BACK, mark, undone
from .speaker import Speaker, bounded
from .turns import Message, compose, current_rows, now

_MOST_TAKEN_BACK = 500
"""Turns of a session that go when the user asks to leave it out."""


def keep(
    home: Home,
    speaker: Speaker,
    session: str,
    said: tuple[str, str],
    messages: Sequence[Message] | None,
    *,
    rung: str,
    in_prompt: InPrompt,
    replay: Mapping[str, Any],
) -> bool:
    """Put a turn, what the user said and the answer, on the disk. False where nothing of it is to be kept.

    `rung` is that of the recall before it, `in_prompt` what the host tells the model in each session anyway. `replay`
    names `at`, `cwd`, `occurrence` where a conversation is told again.

    Raises:
        ShortTermUnavailable: it is not on the disk.
    """
    if is_off_record(home, speaker, session, said[0], replay.get("cwd")):
        home.counters["off_record"] += 1
        return False
    ledger = home.ledgers.of(session)
    draft = compose(
        *said,
        messages,
        speaker=speaker,
        session=session,
        meta=_meta(speaker, rung, replay.get("cwd")),
        at=replay.get("at"),
        without_told=lambda text: ledger.without_injected(
            in_prompt.without_quoted(text), lambda: _injected(home, session)
        ),
    )
    if draft is None:
        return False
    home.before_first_write()
    unsaved = ledger.unsaved()
    gone = _undone(home, speaker, ledger, session, messages or (), said[0])
    written = outbox.append(home.database, draft, occurrence=replay.get("occurrence"), injected=unsaved, undone=gone)
    ledger.turn_kept(unsaved, None if messages is None else len(messages), undone=bool(gone))
    ledger.end, ledger.told_of_undo = mark(messages or ()), False
    home.counters["kept" if written.new else "known"] += 1
    return True


def is_off_record(home: Home, speaker: Speaker, session: str, said: str, cwd: str | None = None) -> bool:
    """True where nothing is to be kept. Where the user asks for it now, what was kept of the session goes too.

    Raises:
        ShortTermUnavailable: it can't be found out, or not be noted.
    """
    if offrecord.reason(home, speaker, session, cwd) is not None:
        return True
    if not offrecord.asks(said):
        return False
    offrecord.leave_out(home, session)
    kept = [turn.id for turn in reversed(recent(home.database, [session], _MOST_TAKEN_BACK, reader=speaker.reader))]
    if kept:
        outbox.append(home.database, outbox.retraction(order(speaker, session, "retract"), kept))
        hide(home.database, kept)
        home.deliver()
    return True


def order(speaker: Speaker, session: str, kind: str, **more: Any) -> Draft:
    """An event outside the conversation, in the name of who speaks."""
    return Draft(
        kind=kind,
        session=bounded(session, MAX_SESSION_CHARS),
        at=now(),
        profile=speaker.profile,
        principal=speaker.principal,
        chat=speaker.chat,
        **more,
    )


def _undone(
    home: Home, speaker: Speaker, ledger: Ledger, session: str, messages: Sequence[Message], user: str
) -> list[str]:
    """The turns that were taken back since the last one."""
    current = current_rows(messages, user)
    if not current or not home.has_database or (ledger.end and ledger.end.precedes(messages)):
        return []
    before = messages[: len(messages) - len(current)]
    if not before and not ledger.told_of_undo:
        return []  # nothing stands there to compare, and reading large turns back takes longer than writing them
    turns = recent(home.database, [session], LOOK_BACK, reader=speaker.reader)
    return undone(turns, before, current[0], told=ledger.told_of_undo)


def _meta(speaker: Speaker, rung: str, cwd: str | None) -> dict[str, Any]:
    """Where it was said, and by which rung of recall it was served: found later beside what it said."""
    place = project.describe(cwd) if speaker.is_local else {}
    known = {
        "platform": speaker.platform,
        "chat_type": speaker.chat_type,
        "chat_id": speaker.chat_id,
        "recall": rung,
    }
    return {"plugin": VERSION, **{name: value for name, value in known.items() if value}, **place}


def _injected(home: Home, session: str) -> set[bytes]:
    return outbox.injected(home.database, session) if home.has_database else set()
