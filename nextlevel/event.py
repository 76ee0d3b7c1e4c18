"""The turn event: what a producer puts on the stream, its versions, limits and fingerprint. Standard library only.

One event is one JSON object in field `e` of a stream entry; above 32 KiB it travels as zlib + base64 in field `z`.
docs/reference/event.md has an example of each kind.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
import re
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from .errors import MalformedEvent
from .model import ToolCall

VERSION = 1
READABLE_VERSIONS = frozenset({1})
KINDS = frozenset({"turn", "remember", "forget", "retract", "session_end", "core_write", "note"})
LANES = frozenset({"live", "batch", "backfill"})

STREAM, BULK_STREAM = "nl:turns", "nl:turns:bulk"
MAX_EVENT_BYTES = 4 * 1024 * 1024
COMPRESS_ABOVE_BYTES = 32 * 1024
MAX_TOOL_RESULT_CHARS = 16 * 1024
MAX_TOOLS = 64
MAX_DEPTH = 32
MAX_SESSION_CHARS = 512

_ID = re.compile(r"(?P<install>[A-Za-z0-9][A-Za-z0-9._~-]{0,79}):(?P<seq>[1-9][0-9]{0,17})")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Event:
    """One turn event, valid by construction of `decode`. `body` holds what only some kinds have (see docs)."""

    id: str
    fp: str
    kind: str
    session: str
    turn: int
    at: str
    profile: str = "default"
    principal: str = "local"
    user_text: str = ""
    assistant_text: str = ""
    tools: tuple[ToolCall, ...] = ()
    lane: str = "live"
    meta: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    v: int = VERSION

    @property
    def install(self) -> str:
        return self.id.rsplit(":", 1)[0]

    @property
    def seq(self) -> int:
        return int(self.id.rsplit(":", 1)[1])


def base_install(install: str) -> str:
    """The enrolled installation behind a delivery id: a cloned home adds `.suffix`, a forked one `~fp8`.

    >>> base_install("k3v9.b7~01ab23cd")
    'k3v9'
    """
    return re.split(r"[.~]", install, maxsplit=1)[0]


def normalised(text: str) -> str:
    """The form in which two tellings of the same words are one: NFC, line ends and outer white space aside."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()


def fingerprint(user_scope: str, session: str, user_text: str, assistant_text: str, occurrence: int) -> str:
    """SHA-256 (hex) that makes the same turn, told twice, one turn.

    `user_scope` is profile and principal; texts are those after redaction and removal of our own markers; `occurrence`
    counts from 0 how often this same pair came before in the session, over the outbox's rows.
    """
    parts = (user_scope, session, normalised(user_text), normalised(assistant_text), str(occurrence))
    digest = hashlib.sha256()
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()


def encode(event: Event) -> dict[str, bytes]:
    """The fields of one stream entry.

    Raises:
        MalformedEvent: as `serialised`.
    """
    return packed(serialised(event))


def serialised(event: Event) -> bytes:
    """The event as JSON.

    Raises:
        MalformedEvent: larger than 4 MiB, or text that is not valid Unicode (a lone surrogate).
    """
    try:
        raw = json.dumps(asdict(event), ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedEvent("broken_unicode", str(error)) from error
    if len(raw) > MAX_EVENT_BYTES:
        raise MalformedEvent("too_large", f"{len(raw)} bytes; at most {MAX_EVENT_BYTES}")
    return raw


def packed(raw: bytes) -> dict[str, bytes]:
    """The fields of one stream entry for an event that already is JSON."""
    return on_wire(deflated(raw)) if len(raw) > COMPRESS_ABOVE_BYTES else {"e": raw}


def deflated(raw: bytes) -> bytes:
    """An event's JSON, packed by zlib; half the time of zlib's usual level, and a sixth more bytes."""
    return zlib.compress(raw, 3)


def inflated(body: bytes) -> bytes:
    """The JSON that was packed. Bounded: a few kilobytes can unpack to gigabytes.

    Raises:
        MalformedEvent: larger than an event may be, or not what zlib packed.
    """
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(body, MAX_EVENT_BYTES + 1)
    except zlib.error as error:
        raise MalformedEvent("bad_compression", str(error)[:200]) from error
    if len(raw) > MAX_EVENT_BYTES:
        raise MalformedEvent("too_large", f"more than {MAX_EVENT_BYTES} bytes unpacked")
    if not unpacker.eof:
        raise MalformedEvent("bad_compression", "the packed text ends too early")
    return raw


def on_wire(body: bytes) -> dict[str, bytes]:
    """The fields of one stream entry for an event that already is packed."""
    return {"z": base64.b64encode(body)}


def decode(fields: Mapping[bytes, bytes]) -> Event:
    """Read and check one stream entry.

    Raises:
        MalformedEvent: with the broken rule's code; `peek_id` may still tell whose it is.
    """
    return check(_document(fields))


def peek_id(fields: Mapping[bytes, bytes]) -> str | None:
    """The id of an entry that `decode` refused, where it still can be read: its number is not lost, only its text."""
    try:
        found = _document(fields).get("id")
    except MalformedEvent:
        return None
    return found if isinstance(found, str) and _ID.fullmatch(found) else None


def unpacked(fields: Mapping[bytes, bytes]) -> bytes | None:
    """The JSON of an entry as bytes, whether or not it is a valid event; None where it can't be unpacked."""
    try:
        return _raw(fields)
    except MalformedEvent:
        return None


def check(document: Mapping[str, Any]) -> Event:
    """An Event from a JSON object, each field checked. Unknown fields are ignored, so that newer producers can add.

    Raises:
        MalformedEvent: with the broken rule's code.
    """
    version = document.get("v")
    if type(version) is not int or version not in READABLE_VERSIONS:
        told = version if isinstance(version, int) else type(version).__name__
        raise MalformedEvent("unknown_version", f"v={told}; this reader knows {sorted(READABLE_VERSIONS)}")
    kind = _text(document, "kind", limit=32)
    if kind not in KINDS:
        raise MalformedEvent("unknown_kind", f"{kind!r}; known are {sorted(KINDS)}")
    event_id = _text(document, "id", limit=100)
    if not _ID.fullmatch(event_id):
        raise MalformedEvent("bad_id", f"{event_id!r} is not <install>:<seq>")
    fp = _text(document, "fp", limit=64)
    if not re.fullmatch(r"[0-9a-f]{64}", fp):
        raise MalformedEvent("bad_fp", "fp must be 64 hexadecimal digits")
    lane = _text(document, "lane", limit=32) if "lane" in document else "live"
    if lane not in LANES:
        raise MalformedEvent("bad_lane", f"{lane!r}; known are {sorted(LANES)}")
    turn = document.get("turn")
    if not isinstance(turn, int) or isinstance(turn, bool) or not 0 <= turn < 2**31:
        raise MalformedEvent("bad_turn", "turn must be a whole number from 0")
    at = _text(document, "at", limit=64)
    moment(at)
    return Event(
        id=event_id,
        fp=fp,
        kind=kind,
        session=_text(document, "session", limit=MAX_SESSION_CHARS),
        turn=turn,
        at=at,
        profile=_text(document, "profile", limit=128),
        principal=_text(document, "principal", limit=256),
        user_text=_text(document, "user_text", empty=True),
        assistant_text=_text(document, "assistant_text", empty=True),
        tools=_tools(document.get("tools", [])),
        lane=lane,
        meta=_object(document, "meta"),
        body=_object(document, "body"),
        v=version,
    )


def moment(at: str) -> datetime:
    """An aware datetime from RFC 3339.

    Raises:
        MalformedEvent: unreadable, naive (its offset would be guessed), or in UTC outside the years 1 to 9999.
    """
    try:
        value = datetime.fromisoformat(at)
        if value.tzinfo is None:
            raise MalformedEvent("bad_time", f"{at!r} has no offset")
        value.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise MalformedEvent("bad_time", f"{at!r} is not RFC 3339") from error
    return value


def _raw(fields: Mapping[bytes, bytes]) -> bytes:
    if b"e" in fields:
        return fields[b"e"]
    if b"z" in fields:
        return _from_wire(fields[b"z"])
    raise MalformedEvent("no_event", f"no field e or z, only {sorted(fields)!r}"[:200])


def _document(fields: Mapping[bytes, bytes]) -> Mapping[str, Any]:
    raw = _raw(fields)
    if len(raw) > MAX_EVENT_BYTES:
        raise MalformedEvent("too_large", f"{len(raw)} bytes; at most {MAX_EVENT_BYTES}")
    try:
        document = json.loads(raw.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise MalformedEvent("broken_unicode", str(error)[:200]) from error
    except (ValueError, RecursionError) as error:
        raise MalformedEvent("bad_json", str(error)[:200]) from error
    if not isinstance(document, dict):
        raise MalformedEvent("bad_json", "not an object")
    return document


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")  # Python reads and writes NaN and Infinity; Postgres refuses them


def _from_wire(field: bytes) -> bytes:
    try:
        body = base64.b64decode(field, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedEvent("bad_compression", str(error)[:200]) from error
    return inflated(body)


def _text(document: Mapping[str, Any], name: str, *, limit: int | None = None, empty: bool = False) -> str:
    value = document.get(name, "" if empty else None)
    if not isinstance(value, str):
        raise MalformedEvent(f"bad_{name}", f"{name} must be text")
    if not value and not empty:
        raise MalformedEvent(f"bad_{name}", f"{name} is empty")
    if limit is not None and len(value) > limit:
        raise MalformedEvent(f"bad_{name}", f"{name} has {len(value)} characters; at most {limit}")
    return _storable(value)


def _storable(value: str) -> str:
    """Postgres text holds no NUL, and UTF-8 no lone surrogate: both become the replacement character."""
    return _UNSTORABLE.sub("\ufffd", value)


def _object(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name, {})
    if not isinstance(value, dict):
        raise MalformedEvent(f"bad_{name}", f"{name} must be an object")
    return {_storable(str(k)): _clean(v, name, depth=1) for k, v in value.items()}


def _clean(value: Any, name: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise MalformedEvent(f"bad_{name}", f"{name} is nested deeper than {MAX_DEPTH}")
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, dict):
        return {_storable(str(k)): _clean(v, name, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_clean(v, name, depth + 1) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise MalformedEvent(f"bad_{name}", f"{name} holds a number that JSON has not")
    return value


def _tools(value: Any) -> tuple[ToolCall, ...]:
    if not isinstance(value, list) or len(value) > MAX_TOOLS:
        raise MalformedEvent("bad_tools", f"tools must be a list of at most {MAX_TOOLS}")
    calls = []
    for item in value:
        if not isinstance(item, dict):
            raise MalformedEvent("bad_tools", "a tool call must be an object")
        result = _text(item, "result", empty=True)
        cut = item.get("cut", 0)
        calls.append(
            ToolCall(
                name=_text(item, "name", limit=256),
                args=_text(item, "args", empty=True),
                result=result[:MAX_TOOL_RESULT_CHARS],
                ok=item.get("ok", True) is not False,
                cut=(cut if isinstance(cut, int) and cut > 0 else 0) + max(0, len(result) - MAX_TOOL_RESULT_CHARS),
            )
        )
    return tuple(calls)
