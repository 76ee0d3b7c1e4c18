"""The host's compaction: what its summary is given, and what the turn after it gets, whatever the summary kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nextlevel.errors import NextLevelError, ShortTermUnavailable
from nextlevel.producers.shortterm.search import recent
from nextlevel.safety import markers

from . import carry
from .home import Home
from .prefetch import ask_service, day, prepared
from .speaker import Speaker
from .turns import text_of

_SERVICE_S = 0.08
_TIER2_S = 0.02
_TURNS = 40
"""Turns of the session that are looked through, the latest ones."""
_LONGEST_CHARS = 65_536
"""Of a turn; most of a longer one was pasted, or answered by a tool, and reading it would take too long."""
_ASKED = 3
"""Last messages of the user that tell what the conversation is about."""


def before(home: Home, speaker: Speaker, session: str, messages: Sequence[Any]) -> str:
    """At most 300 tokens of exact values, from this conversation first and then from long-term memory."""
    said = _said(home, speaker, home.ledgers.of(session).sessions)
    known = ""
    if speaker.chat is None:
        try:
            known = ask_service(home, speaker, session, prepared(_about(messages)), _SERVICE_S, brief=True)
        except NextLevelError:
            home.counters["pre_compress_alone"] += 1  # prefetch tells of a service that is down
    return carry.block([*carry.lines(said), *carry.exact(known)])


def after(home: Home, speaker: Speaker, sessions: Sequence[str], context: str) -> str:
    """A recalled context, with the exact values of the conversation that it does not have yet."""
    lines = carry.lines(_said(home, speaker, sessions), known=context)
    if not lines:
        return context
    return "\n".join([context or markers.HEADER, *lines])


def _said(home: Home, speaker: Speaker, sessions: Sequence[str]) -> list[carry.Said]:
    if not home.has_database:
        return []
    try:
        turns = recent(home.database, sessions, _TURNS, reader=speaker.reader, longest=_LONGEST_CHARS, wait_s=_TIER2_S)
    except ShortTermUnavailable as error:
        home.failed("compaction", error)
        return []
    return [carry.Said(day(turn.at), turn.user_text, turn.assistant_text) for turn in turns]


def _about(messages: Sequence[Any]) -> str:
    rows = [row for row in messages if isinstance(row, Mapping) and row.get("role") == "user"]
    return "\n".join(text_of(row.get("content")) for row in rows[-_ASKED:])
