"""The host's own memory files, entry by entry: what was added since the last look goes out, what went is taken back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from . import sql
from .database import Database
from .kept import opened
from .outbox import Draft, retraction, write


def ever_mirrored(database: Database) -> set[str]:
    """Each entry that these files had since the plugin looks at them, as far as tier 2 still holds it.

    Raises:
        ShortTermUnavailable: tier 2 can't be read.
    """
    with database.reading() as connection:
        return {json.loads(opened(row["event"]))["user_text"] for row in connection.execute(sql.MIRRORED_ENTRIES)}


def mirror(database: Database, draft: Draft, target: str, entries: Sequence[str]) -> tuple[int, int]:
    """Bring the outbox in line with the entries of one file; how many were added and how many taken back.

    `draft` says who speaks and where. One transaction, so that of two processes that look at once one finds nothing
    left to do; without a change nothing is written.

    Raises:
        ShortTermUnavailable: tier 2 can't be written; the next look finds the same change.
    """
    name = f"core:{target}"
    with database.transaction() as connection:
        row = connection.execute(sql.GET_NOTE, {"name": name}).fetchone()
        known: dict[str, str] = json.loads(row["value"]) if row is not None else {}
        gone = [turn for entry, turn in known.items() if entry not in entries]
        new = [entry for entry in dict.fromkeys(entries) if entry not in known]
        if gone:
            write(connection, database, retraction(draft, gone))
        kept = {entry: turn for entry, turn in known.items() if entry in entries}
        for entry in new:
            order = replace(draft, kind="core_write", user_text=entry, body={"target": target})
            kept[entry] = write(connection, database, order).id
        if gone or new:
            connection.execute(sql.SET_NOTE, {"name": name, "value": json.dumps(kept, ensure_ascii=False)})
    return len(new), len(gone)
