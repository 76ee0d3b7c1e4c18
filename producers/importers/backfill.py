"""From the host's session store to the outbox. Safe to repeat and to break off: each session has a mark once done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from ..hermes import VERSION, inprompt, offrecord, project
from ..hermes.home import Home, of
from ..hermes.ledger import Ledger
from ..hermes.recording import order
from ..hermes.speaker import Speaker, profile_of
from ..hermes.turns import compose
from ..shortterm import outbox, sql
from ..shortterm.outbox import Draft, retraction
from ..shortterm.search import hide_in, recent
from .state_db import Conversation, Exchange, opened

SETTLED_S = 600.0
"""How long ago something must have been said to be looked for: until then its own hook may bring it."""
_MARK = "imported:"
_MOST_KEPT = 500


@dataclass(slots=True)
class Progress:
    """How far an import has come. `known` were there already, `left_out` is off the record."""

    sessions: int = 0
    of: int = 0
    new: int = 0
    known: int = 0
    undone: int = 0
    left_out: int = 0


async def history(path: Path) -> AsyncIterator[Progress]:
    """Bring all of a home's past into its outbox, by the lane for what can wait; told after each session.

    Raises:
        UnusableFile: the host's store can't be read.
        ShortTermUnavailable: tier 2 can't be written; a repetition goes on from there.
    """
    home = of(path)
    await asyncio.to_thread(home.before_first_write)
    async for each in _bring(home, lane="backfill", since=0.0, wanted=lambda _: True):
        yield each


async def missed(path: Path) -> Progress:
    """Bring what no hook brought since the plugin is there, and take back what was undone since."""
    home, done = of(path), Progress()
    if home.has_database:
        with home.database.reading() as connection:
            since = connection.execute("SELECT min(at) FROM outbox").fetchone()[0]
        settled = time.time() - SETTLED_S
        if since is not None:
            async for each in _bring(home, lane="batch", since=since, wanted=lambda c: since <= c.last_at < settled):
                done = each
    return done


async def _bring(
    home: Home, *, lane: str, since: float, wanted: Callable[[Conversation], bool]
) -> AsyncIterator[Progress]:
    async with opened(home.path) as store:
        if store is None:
            return
        found = await store.sessions()
        marks = await asyncio.to_thread(_marks, home)
        # All are read, also those done: what follows them holds copies of their turns.
        changed = {c.session["id"] for c in found if wanted(c) and marks.get(c.session["id"]) != c.mark}
        parents = {c.session["branched_from"] or c.session["parent_session_id"] for c in found}
        done = Progress(of=len(found))
        for each in found:
            done.sessions += 1
            if each.session["id"] in changed:
                await asyncio.to_thread(_write, home, await store.read(each), lane, since, done)
            elif each.session["id"] in parents:
                await store.read(each)
            yield done


def _write(home: Home, conversation: Conversation, lane: str, since: float, done: Progress) -> None:
    """One session in one transaction, its mark included."""
    session, speaker = str(conversation.session["id"]), _speaker(home, conversation)
    cwd = conversation.session["cwd"]
    if offrecord.reason(home, speaker, session, cwd):
        done.left_out += len(conversation.said)
        return
    told = _Told(home, speaker, session, cwd)
    asked = [each for each in conversation.said if each.at >= since]
    said = [each for each in asked if not home.config.was_paused(each.at)]
    done.left_out += len(asked) - len(said)
    drafts = [replace(draft, lane=lane) for each in said if (draft := told.draft(each)) is not None]
    pairs = {(draft.user_text, draft.assistant_text) for each in conversation.undone if (draft := told.draft(each))}
    gone: list[str] = []
    if pairs and home.has_database:
        kept = recent(home.database, [session], _MOST_KEPT, reader=speaker.reader)
        gone = [turn.id for turn in reversed(kept) if (turn.user_text, turn.assistant_text) in pairs]
    with home.database.transaction() as connection:
        if gone:
            outbox.write(connection, home.database, retraction(order(speaker, session, "retract"), gone))
            hide_in(connection, gone)
            done.undone += len(gone)
        for draft in drafts:
            new = outbox.write(connection, home.database, draft, 0).new
            done.new, done.known = done.new + new, done.known + (not new)
        connection.execute(sql.SET_NOTE, {"name": f"{_MARK}{session}", "value": conversation.mark})


class _Told:
    """Makes drafts of one session's turns as its hooks would have: the same words give the same fingerprint."""

    def __init__(self, home: Home, speaker: Speaker, session: str, cwd: str | None) -> None:
        self._speaker, self._session = speaker, session
        local = speaker.is_local and bool(cwd)
        self._meta = {"plugin": VERSION, "imported": "state.db", **(project.describe(cwd) if local else {})}
        self._in_prompt = inprompt.read(home.path, Path(cwd) if local and cwd else None)
        self._ledger = Ledger(session)
        self._injected = outbox.injected(home.database, session) if home.has_database else set()

    def draft(self, said: Exchange) -> Draft | None:
        return compose(
            said.user,
            said.assistant,
            said.rows,
            speaker=self._speaker,
            session=self._session,
            meta=self._meta | ({"platform": self._speaker.platform} if self._speaker.platform else {}),
            without_told=lambda text: self._ledger.without_injected(
                self._in_prompt.without_quoted(text), lambda: self._injected
            ),
        )


def _speaker(home: Home, conversation: Conversation) -> Speaker:
    """Whose session it was, as far as the store tells: only the gateway names a user there."""
    row = conversation.session
    profile = row["profile_name"] or profile_of(home.path)
    given = {"platform": row["source"], "agent_identity": profile, "chat_type": row["chat_type"]}
    if row["user_id"]:
        given |= {"user_id": row["user_id"], "chat_id": row["chat_id"]}
    elif row["session_key"]:
        given |= {"gateway_session_key": row["session_key"]}
    return Speaker.from_host(given)


def _marks(home: Home) -> dict[str, str]:
    if not home.has_database:
        return {}
    with home.database.reading() as connection:
        rows = connection.execute("SELECT name, value FROM notes WHERE name GLOB ?", (f"{_MARK}*",)).fetchall()
    return {str(row["name"]).removeprefix(_MARK): str(row["value"]) for row in rows}
