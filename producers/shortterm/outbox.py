"""Writing to tier 2: an event gets its identity and its number in the transaction that puts it on the disk."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from nextlevel.event import VERSION, Event, base_install, check, fingerprint, moment
from nextlevel.lang.tokens import words
from nextlevel.model import ToolCall

from . import sql
from .database import BUSY_S, Database
from .identity import current, take_number
from .kept import kept
from .search import hide_in


@dataclass(frozen=True, slots=True)
class Draft:
    """An event that has no identity yet. Its texts are already redacted and free of our own markers.

    `chat` names the group chat it was said in, None elsewhere. The other fields are those of the turn event.
    """

    session: str
    at: str
    kind: str = "turn"
    profile: str = "default"
    principal: str = "local"
    chat: str | None = None
    user_text: str = ""
    assistant_text: str = ""
    tools: tuple[ToolCall, ...] = ()
    lane: str = "live"
    meta: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Written:
    """The event's id, and whether it is new: False where this very turn was told before."""

    id: str
    new: bool


def append(
    database: Database,
    draft: Draft,
    *,
    occurrence: int | None = None,
    injected: Iterable[bytes] = (),
    undone: Sequence[str] = (),
) -> Written:
    """Put an event on the disk. When this returns it survives a kill and a power cut.

    `occurrence` counts from 0 how often the same pair of texts came before in its session. A live turn leaves it to the
    outbox; who tells a conversation again (import, demo) counts it there, so that what is told twice is one turn.
    `injected` are hashes of lines that recall has put before the model since the last turn. `undone` are turns that the
    host took back before this one: they are retracted with it, and shown no more.

    Raises:
        ShortTermUnavailable: the disk refuses; nothing was written.
        MalformedEvent: the draft breaks the contract of the turn event.
    """
    with database.transaction() as connection:
        connection.executemany(sql.ADD_INJECTED, [{"session": draft.session, "line": line} for line in injected])
        if undone:
            write(connection, database, retraction(draft, undone))
            hide_in(connection, undone)
        return write(connection, database, draft, occurrence)


def retraction(draft: Draft, turns: Sequence[str]) -> Draft:
    """The order to take turns back, in the name of who speaks in `draft`."""
    return replace(draft, kind="retract", user_text="", assistant_text="", tools=(), meta={}, body={"turns": [*turns]})


def write(connection: sqlite3.Connection, database: Database, draft: Draft, occurrence: int | None = None) -> Written:
    """`append`, inside a transaction that does more."""
    scope = f"{draft.profile}\n{draft.principal}"
    if draft.kind != "turn":  # what is not said but ordered: other orders have other bodies
        scope += f"\n{draft.kind}\n{json.dumps(draft.body, sort_keys=True)}"
    told = (scope, draft.session, draft.user_text, draft.assistant_text)
    pair = fingerprint(*told, 0)
    if occurrence is None:
        occurrence = int(connection.execute(sql.COUNT_PAIR, {"pair": pair}).fetchone()[0])
    fp = fingerprint(*told, occurrence)
    known = connection.execute(sql.FIND_FINGERPRINT, {"fp": fp}).fetchone()
    if known is not None:
        return Written(f"{known['install']}:{known['seq']}", new=False)
    install, seq = take_number(connection, base=database.base, home=database.home, copied=database.copied)
    turn = 0
    if draft.kind == "turn":
        turn = int(connection.execute(sql.NEXT_TURN, {"session": draft.session}).fetchone()[0])
    event = _event(draft, id=f"{install}:{seq}", fp=fp, turn=turn)
    _insert(connection, event, pair=pair, chat=draft.chat)
    return Written(event.id, new=True)


def _event(draft: Draft, *, id: str, fp: str, turn: int) -> Event:
    fields = asdict(draft)
    del fields["chat"]
    return check({**fields, "tools": list(fields["tools"]), "v": VERSION, "id": id, "fp": fp, "turn": turn})


def _insert(connection: sqlite3.Connection, event: Event, *, pair: str, chat: str | None) -> None:
    row = connection.execute(sql.ADD_ROW, columns(event, pair=pair, chat=chat)).lastrowid
    connection.execute(sql.KEEP_EVENT, {"row": row, "event": kept(event)})
    if event.kind in SEARCHED_KINDS:
        connection.execute(sql.ADD_WORDS, {"row": row, **terms(event)})


def columns(event: Event, *, pair: str, chat: str | None) -> dict[str, Any]:
    """An event's columns in the outbox."""
    named = {name: getattr(event, name) for name in _COLUMNS}
    return {**named, "pair": pair, "chat": chat, "at": moment(event.at).timestamp()}


def terms(event: Event) -> dict[str, str]:
    """An event's words, as the index has them."""
    return {
        "user_words": " ".join(words(event.user_text)),
        "assistant_words": " ".join(words(event.assistant_text)),
    }


SEARCHED_KINDS = ("turn", "remember")
"""What a search of tier 2 finds: what was said, and what is to be remembered but may not be stored yet."""

_COLUMNS = ("install", "seq", "fp", "kind", "lane", "profile", "principal", "session", "turn")


def injected(database: Database, session: str) -> set[bytes]:
    """Hashes of all lines that recall put before the model in a session, as far as turns followed."""
    with database.reading() as connection:
        return {bytes(row[0]) for row in connection.execute(sql.INJECTED, {"session": session})}


def counts(database: Database) -> dict[str, Any]:
    """What a person is told: events by state, waiting since when, sessions held, the id in use."""
    with database.reading() as connection:
        found = dict(connection.execute(sql.COUNTS).fetchone())
        identity = connection.execute(sql.CURRENT_IDENTITY).fetchone()
    found["install"] = None if identity is None else identity["install"]
    found["mark"] = 0 if identity is None else identity["mark"]
    return found


def base_in_use(database: Database) -> str | None:
    """The enrolled id behind that under which turns leave this home, None before the first."""
    with database.reading() as connection:
        install = current(connection)
    return None if install is None else base_install(install)


def note(database: Database, name: str, value: str) -> None:
    """Keep a word for `status`, which runs in another process."""
    with database.transaction() as connection:
        connection.execute(sql.SET_NOTE, {"name": name, "value": value})


def noted(database: Database, name: str, *, wait_s: float = BUSY_S) -> str | None:
    with database.reading(wait_s=wait_s) as connection:
        row = connection.execute(sql.GET_NOTE, {"name": name}).fetchone()
    return None if row is None else str(row["value"])


def off_record(session: str) -> str:
    """The name of the note that nothing of a session is to be remembered; by a hash, so that it tells nothing of it."""
    return f"off:{hashlib.sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
