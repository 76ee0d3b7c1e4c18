"""How tier 2 keeps an event: its JSON, and packed by zlib as it goes on the wire where it has more than 32 KiB.

SQLite writes a turn twice, into its journal and from there into its file. To pack a megabyte takes 7 ms, to write it
without took a busy disk up to 600, with the host waiting.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict

from nextlevel.errors import MalformedEvent
from nextlevel.event import COMPRESS_ABOVE_BYTES, MAX_EVENT_BYTES, Event, deflated, on_wire, packed

Kept = str | bytes
"""JSON as text, or the same packed. Files that an earlier version began hold large ones as text, too."""


def kept(event: Event) -> Kept:
    """The event as it is kept.

    Raises:
        MalformedEvent: larger than an event may be.
    """
    text = json.dumps(asdict(event), ensure_ascii=False, separators=(",", ":"))
    raw = text.encode("utf-8")
    if len(raw) > MAX_EVENT_BYTES:
        raise MalformedEvent("too_large", f"{len(raw)} bytes; at most {MAX_EVENT_BYTES}")
    return deflated(raw) if len(raw) > COMPRESS_ABOVE_BYTES else text


def opened(stored: Kept) -> str:
    """The event's JSON."""
    return stored if isinstance(stored, str) else zlib.decompress(stored).decode("utf-8")


def fields(stored: Kept) -> dict[str, bytes]:
    """The fields of its stream entry."""
    return packed(stored.encode("utf-8")) if isinstance(stored, str) else on_wire(stored)
