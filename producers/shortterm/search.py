"""Full-text search of recent turns: the rung that answers when neither the service nor its cache can be reached."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from nextlevel.event import MAX_EVENT_BYTES
from nextlevel.lang.tokens import content_words

from . import sql
from .database import Database
from .kept import opened

_RAREST = 8
FLOOR = 0.4
"""Least share of the query's weight (its words, rare ones counting more) that a turn must hold to be shown."""
_CANDIDATES = 24


@dataclass(frozen=True, slots=True)
class Found:
    """A turn of tier 2. `share` is the part of the query's weight that it holds, 0..1."""

    id: str
    session: str
    at: str
    user_text: str
    assistant_text: str
    share: float


@dataclass(frozen=True, slots=True)
class Reader:
    """Whose turns may be seen: those of one person under one profile, or those of one group chat."""

    profile: str = "default"
    principal: str = "local"
    chat: str | None = None


def search(
    database: Database,
    text: str,
    limit: int,
    *,
    reader: Reader,
    session: str = "",
    skip_last: int = 0,
    kind: str | None = None,
    since: float = 0.0,
    wait_s: float = 1.0,
) -> list[Found]:
    """The turns that share the query's rarer words, best first (bm25; any word counts, accents and case don't).

    What is to be remembered counts as a turn; `kind` asks for one of the two only, `since` for what is not older.

    The last `skip_last` turns of `session` are left out: the model still has them before its eyes.

    Raises:
        ShortTermUnavailable: tier 2 can't be read, or not within about `wait_s` seconds.
    """
    terms = list(dict.fromkeys(content_words(text)))
    if not terms:
        return []
    ends = time.monotonic() + wait_s
    with database.reading(wait_s=wait_s) as connection:
        # A common word in a large file costs time; past the deadline SQLite is stopped.
        connection.set_progress_handler(lambda: time.monotonic() > ends, 2_000)
        try:
            weights = _weights(connection, terms)
            last = int(connection.execute(sql.LAST_TURN, {"session": session}).fetchone()[0])
            bounds = {
                **{"profile": reader.profile, "principal": reader.principal, "chat": reader.chat},
                **{"session": session if skip_last else "", "after_turn": last - skip_last},
                **{"kind": kind, "since": since, "limit": limit + _CANDIDATES},
            }
            rows = _rows(connection, weights, bounds)
        finally:
            connection.set_progress_handler(None, 0)
    total = sum(weight for weight, _ in weights.values())
    shares = [(row, round(_share(row, weights) / total, 3)) for row in rows]
    enough = [(row, share) for row, share in shares if share >= FLOOR]
    return [_found(row, opened(row["event"]), share) for row, share in enough[:limit]]


def recent(
    database: Database,
    sessions: Iterable[str],
    limit: int,
    *,
    reader: Reader,
    longest: int = MAX_EVENT_BYTES,
    wait_s: float = 1.0,
) -> list[Found]:
    """The last turns of these sessions that are not hidden, newest first; of these, those of at most `longest` signs.

    Raises:
        ShortTermUnavailable: tier 2 can't be read, or not within about `wait_s` seconds.
    """
    whose = {"profile": reader.profile, "principal": reader.principal, "chat": reader.chat}
    asked = {"sessions": json.dumps(list(sessions)), "limit": limit, "longest": longest, **whose}
    with database.reading(wait_s=wait_s) as connection:
        rows = connection.execute(sql.RECENT, asked).fetchall()
    texts = ((row, opened(row["event"])) for row in rows)
    return [_found(row, text, 1.0) for row, text in texts if len(text) <= longest]


def hide(database: Database, turns: Iterable[str]) -> None:
    """Never show these turns again: something said in them was forgotten.

    Raises:
        ShortTermUnavailable: tier 2 can't be written.
    """
    with database.transaction() as connection:
        hide_in(connection, turns)


def hide_in(connection: sqlite3.Connection, turns: Iterable[str]) -> None:
    """`hide`, inside the transaction that says why."""
    by_install: dict[str, list[int]] = {}
    for turn in turns:
        install, _, seq = turn.rpartition(":")
        if seq.isdecimal():
            by_install.setdefault(install, []).append(int(seq))
    for install, seqs in by_install.items():
        connection.execute(sql.HIDE_TURNS, {"install": install, "seqs": json.dumps(seqs)})


def _weights(connection: sqlite3.Connection, terms: Sequence[str]) -> dict[str, tuple[float, int]]:
    """For each term its weight (idf) and in how many turns it stands. One that stands in none weighs most."""
    documents = int(connection.execute(sql.DOCUMENTS).fetchone()[0])
    counts = dict(connection.execute(sql.TERM_COUNTS, {"terms": json.dumps(terms)}).fetchall())
    return {term: (math.log(1 + documents / (counts.get(term, 0) + 0.5)), counts.get(term, 0)) for term in terms}


def _rows(
    connection: sqlite3.Connection, weights: dict[str, tuple[float, int]], bounds: dict[str, Any]
) -> list[sqlite3.Row]:
    terms = needed(weights)
    if not terms:
        return []
    match = " OR ".join(_quoted(terms))
    return connection.execute(sql.SEARCH, {"match": match, **bounds}).fetchall()


def needed(weights: dict[str, tuple[float, int]]) -> list[str]:
    """The rarest terms, of which every turn that is shown holds one: the others together are less than the floor.

    Half of all turns may hold a common word, and each would be ranked.
    """
    known = sorted((count, term) for term, (_, count) in weights.items() if count)
    spare = FLOOR * sum(weight for weight, _ in weights.values())
    while known and weights[known[-1][1]][0] < spare:
        spare -= weights[known.pop()[1]][0]
    return [term for _, term in known[:_RAREST]]


def _quoted(terms: Iterable[str]) -> list[str]:
    return ['"' + term.replace('"', '""') + '"' for term in terms]


def _share(row: sqlite3.Row, weights: dict[str, tuple[float, int]]) -> float:
    held = {*row["user_words"].split(), *row["assistant_words"].split()}
    return sum(weight for term, (weight, _) in weights.items() if term in held)


def _found(row: sqlite3.Row, text: str, share: float) -> Found:
    event = json.loads(text)
    return Found(row["id"], row["session"], event["at"], event["user_text"], event["assistant_text"], share)
