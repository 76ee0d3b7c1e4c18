"""What Postgres says it holds, applied to the outbox. Pure plans of statements: the plugin and the relay both run them.

A receipt is a contiguous mark and the gaps above it, never "last success": nothing behind a success can be forgotten.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import sql
from .identity import forked

Step = tuple[str, dict[str, Any]]

KEY = "nl:ack:"


@dataclass(frozen=True, slots=True)
class Receipt:
    """Every number up to `mark` is in Postgres, and those up to `high` that stand in no gap.

    `hidden` are numbers of turns in which something was said that has been forgotten since: tier 2 must not show them.
    `forks` are numbers that came a second time with another fingerprint, whose first 8 digits are given.
    """

    mark: int
    high: int
    gaps: tuple[tuple[int, int], ...] = ()
    hidden: tuple[int, ...] = ()
    forks: tuple[tuple[str, str], ...] = ()


def parse(raw: bytes | str | None) -> Receipt | None:
    """A receipt as it stands in Redis; None where none is, or none that can be read: then nothing is concluded."""
    if raw is None:
        return None
    try:
        document = json.loads(raw)
        return Receipt(
            mark=int(document["mark"]),
            high=int(document["high"]),
            gaps=tuple((int(first), int(last)) for first, last in document.get("gaps", [])),
            hidden=tuple(int(seq) for seq in document.get("hidden", [])),
            forks=tuple((str(seq), str(fp)) for seq, fp in document.get("forks", {}).items()),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def plan(identity: sqlite3.Row | Mapping[str, Any], receipt: Receipt, *, home: str) -> list[Step]:
    """The statements, for one transaction, that bring the outbox in line with a receipt.

    `identity` is its row of `identities`, read in that transaction and after the receipt, so that numbers given out
    in between are not taken for numbers that we never gave.
    """
    install = str(identity["install"])
    covered = {
        "install": install,
        "mark": receipt.mark,
        "high": receipt.high,
        "gaps": json.dumps(receipt.gaps),
    }
    steps: list[Step] = [(sql.ACKNOWLEDGE, covered)]
    if receipt.mark < identity["mark"] or receipt.high < identity["high"]:
        # Postgres was restored from a backup: what it has lost is sent again.
        steps.append((sql.RESEND, covered))
    if receipt.hidden:
        steps.append((sql.HIDE_TURNS, {"install": install, "seqs": json.dumps(receipt.hidden)}))
    steps.append((sql.NOTE_RECEIPT, {"install": install, "mark": receipt.mark, "high": receipt.high}))
    if identity["is_current"] and receipt.high >= identity["next_seq"]:
        # Postgres knows numbers that we have not given: this home was restored from a backup, or is a clone that runs
        # under the same path. From here on it counts under an id of its own.
        steps.append((sql.RETIRE_IDENTITY, {}))
    if receipt.forks:
        steps.append((sql.RETIRE_FORKED_IDENTITY, {"install": install, "forks": json.dumps(dict(receipt.forks))}))
    steps.append((sql.ADD_IDENTITY, {"install": forked(install), "home": home, "now": time.time()}))
    return steps
