"""How tier 2 keeps an event: its JSON, and packed by zlib as it goes on the wire where it has more than 32 KiB.

SQLite writes a turn twice, into its journal and from there into its file. To pack a megabyte takes 7 ms, to write it
without took a busy disk up to 600, with the host waiting.
"""

from __future__ import annotations

from nextlevel.event import COMPRESS_ABOVE_BYTES, Event, deflated, inflated, on_wire, packed, serialised

Kept = str | bytes
"""JSON as text, or the same packed. Files that an earlier version began hold large ones as text, too."""


def kept(event: Event) -> Kept:
    """The event as it is kept.

    Raises:
        MalformedEvent: larger than an event may be.
    """
    raw = serialised(event)
    return deflated(raw) if len(raw) > COMPRESS_ABOVE_BYTES else raw.decode("utf-8")


def opened(stored: Kept) -> str:
    """The event's JSON.

    Raises:
        MalformedEvent: what was packed can't be unpacked.
    """
    return stored if isinstance(stored, str) else inflated(stored).decode("utf-8")


def entry_fields(stored: Kept) -> dict[str, bytes]:
    """The fields of its stream entry."""
    return packed(stored.encode("utf-8")) if isinstance(stored, str) else on_wire(stored)
