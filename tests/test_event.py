"""The turn event: anyone can publish to the stream, so nothing that arrives may surprise the reader."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nextlevel import event
from nextlevel.errors import MalformedEvent
from nextlevel.event import Event
from nextlevel.model import ToolCall

FP = "0123456789abcdef" * 4
GOOD: dict[str, Any] = {
    "v": 1,
    "id": "k3v9:17",
    "fp": FP,
    "kind": "turn",
    "profile": "default",
    "principal": "local",
    "session": "20260604_162001",
    "turn": 3,
    "at": "2026-06-04T16:20:01+02:00",
    "user_text": "heads up, the api moved to 8091",
    "assistant_text": "Changed the compose file.",
    "tools": [{"name": "terminal", "args": "curl -sI localhost:8091", "result": "HTTP/1.1 200 OK", "ok": True}],
    "lane": "live",
    "meta": {"platform": "cli"},
    "body": {},
}


def entry(**changes: Any) -> dict[bytes, bytes]:
    return raw_entry(json.dumps({**GOOD, **changes}).encode())


def raw_entry(raw: bytes) -> dict[bytes, bytes]:
    return {b"e": raw}


def bytes_of(fields: dict[str, bytes]) -> dict[bytes, bytes]:
    return {name.encode(): value for name, value in fields.items()}


def refusal(fields: dict[bytes, bytes]) -> str:
    with pytest.raises(MalformedEvent) as refused:
        event.decode(fields)
    return refused.value.code


# --- what goes round comes back --------------------------------------------------------------------------------------

# Text as it may reach us from a chat: everything but what _storable replaces.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)
names = texts.filter(bool)
plain = (
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts
)
objects = st.dictionaries(
    texts, st.recursive(plain, lambda inner: st.lists(inner, max_size=3), max_leaves=5), max_size=3
)
events = st.builds(
    Event,
    id=st.integers(1, 10**17).map(lambda seq: f"k3v9.b7~01ab23cd:{seq}"),
    fp=st.just(FP),
    kind=st.sampled_from(sorted(event.KINDS)),
    session=names,
    turn=st.integers(0, 2**31 - 1),
    at=st.datetimes(timezones=st.timezones()).map(lambda at: at.isoformat()).filter(lambda at: "0001" < at < "9999"),
    profile=names.map(lambda name: name[:128]),
    principal=names,
    user_text=texts,
    assistant_text=texts,
    tools=st.lists(st.builds(ToolCall, names, texts, texts, st.booleans(), st.integers(0, 9)), max_size=3).map(tuple),
    lane=st.sampled_from(sorted(event.LANES)),
    meta=objects,
    body=objects,
)


@given(events)
def test_every_event_survives_the_wire(sent: Event) -> None:
    """What the plugin wrote is what ingest reads, to the last character."""
    assert sent == event.decode(bytes_of(event.encode(sent)))


@given(st.integers(event.COMPRESS_ABOVE_BYTES - 800, event.COMPRESS_ABOVE_BYTES + 800))
def test_an_event_survives_on_either_side_of_the_compression_border(size: int) -> None:
    """Above 32 KiB it travels packed; the border itself is where an off-by-one would hide."""
    sent = replace(event.check(GOOD), user_text="ü" * (size // 2))
    fields = event.encode(sent)
    assert sent == event.decode(bytes_of(fields))
    assert {"e"} == set(fields) or {"z"} == set(fields)


def test_a_long_event_travels_packed_and_a_short_one_readable() -> None:
    """A person who looks at the stream sees JSON wherever that is cheap."""
    short = event.check(GOOD)
    assert {"e"} == set(event.encode(short))
    assert {"z"} == set(event.encode(replace(short, user_text="a" * event.COMPRESS_ABOVE_BYTES)))


@given(st.binary(max_size=300))
def test_no_bytes_at_all_can_do_more_than_be_refused(raw: bytes) -> None:
    """An exception of another kind would stop ingest, and with it everybody's turns."""
    for fields in ({b"e": raw}, {b"z": raw}, {b"z": base64.b64encode(zlib.compress(raw))}, {raw[:9]: raw}):
        with pytest.raises(MalformedEvent):
            event.decode(fields)
        assert event.peek_id(fields) is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(sorted(GOOD)), anything)
def test_no_value_in_any_field_can_do_more_than_be_refused(field: str, value: Any) -> None:
    """Whatever stands in a field, the event is read or refused; and what is read can be written again."""
    try:
        found = event.check({**GOOD, field: value})
    except MalformedEvent:
        return
    event.encode(found)


# --- broken rules, each by its name ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"v": 2}, "unknown_version"),
        ({"v": 0}, "unknown_version"),
        ({"v": True}, "unknown_version"),
        ({"v": [1]}, "unknown_version"),
        ({"v": None}, "unknown_version"),
        ({"kind": "gossip"}, "unknown_kind"),
        ({"kind": 7}, "bad_kind"),
        ({"id": "k3v9"}, "bad_id"),
        ({"id": "k3v9:0"}, "bad_id"),
        ({"id": "k3v9:07"}, "bad_id"),
        ({"id": "k3v9:1\n"}, "bad_id"),
        ({"id": "k3 v9:1"}, "bad_id"),
        ({"id": "-k3v9:1"}, "bad_id"),
        ({"id": "k3v9:" + "9" * 19}, "bad_id"),
        ({"fp": "abc"}, "bad_fp"),
        ({"fp": FP.upper()}, "bad_fp"),
        ({"lane": "overtaking"}, "bad_lane"),
        ({"lane": ["live"]}, "bad_lane"),
        ({"turn": -1}, "bad_turn"),
        ({"turn": 2**31}, "bad_turn"),
        ({"turn": True}, "bad_turn"),
        ({"turn": "3"}, "bad_turn"),
        ({"session": ""}, "bad_session"),
        ({"session": "s" * 513}, "bad_session"),
        ({"profile": ""}, "bad_profile"),
        ({"principal": "p" * 257}, "bad_principal"),
        ({"user_text": None}, "bad_user_text"),
        ({"tools": {"name": "terminal"}}, "bad_tools"),
        ({"tools": ["terminal"]}, "bad_tools"),
        ({"tools": [{"name": "t"}] * 65}, "bad_tools"),
        ({"tools": [{"args": "no name"}]}, "bad_name"),
        ({"meta": []}, "bad_meta"),
        ({"body": "text"}, "bad_body"),
    ],
)
def test_each_broken_rule_has_its_own_name(changes: dict[str, Any], code: str) -> None:
    """The code is what the counters and the dead letters show: it must tell which rule it was."""
    assert code == refusal(entry(**changes))


@pytest.mark.parametrize(
    "at",
    [
        "2026-06-04T16:20:01",  # naive
        "2026-06-04",
        "yesterday",
        "",
        "2026-13-01T00:00:00+02:00",
        "0001-01-01T00:00:00+14:00",  # before the year 1 in UTC
        "9999-12-31T23:59:59-12:00",  # after the year 9999 in UTC
        "2026-06-04T16:20:01+02:00" + " " * 64,
    ],
)
def test_a_time_that_would_have_to_be_guessed_is_refused(at: str) -> None:
    """A naive stamp shifts the day by the server's zone; one beyond the calendar would fail later, inside Postgres."""
    assert refusal(entry(at=at)) in {"bad_time", "bad_at"}


def test_the_speakers_own_offset_is_kept() -> None:
    """Tomorrow is counted from the speaker's day, not from UTC's."""
    assert "2026-06-04T16:20:01+02:00" == event.moment(GOOD["at"]).isoformat()


# --- sizes and bombs -------------------------------------------------------------------------------------------------


def test_an_event_over_four_mebibytes_is_refused_on_both_sides() -> None:
    """The producer is told at once; a stranger's is stopped at the door."""
    with pytest.raises(MalformedEvent, match="too_large"):
        event.encode(replace(event.check(GOOD), user_text="a" * event.MAX_EVENT_BYTES))
    assert "too_large" == refusal(entry(user_text="a" * event.MAX_EVENT_BYTES))


def test_a_bomb_is_refused_without_being_unpacked() -> None:
    """64 MiB of zeros are 64 kB packed; only the first 4 MiB are ever unpacked."""
    bomb = base64.b64encode(zlib.compress(bytes(64 * 1024 * 1024), 9))
    assert len(bomb) < 100_000
    assert "too_large" == refusal({b"z": bomb})


@pytest.mark.parametrize("cut", [0, 1, 20, -1])
def test_a_packed_event_that_was_cut_is_refused(cut: int) -> None:
    """Half an event must not pass for a whole one."""
    packed = zlib.compress(json.dumps(GOOD).encode())[:cut]
    assert "bad_compression" == refusal({b"z": base64.b64encode(packed)})


def test_what_is_nested_too_deep_is_refused() -> None:
    """Deep nesting would exhaust the stack of whoever walks it, and a crash there would repeat for ever."""
    nested: Any = "leaf"
    for _ in range(event.MAX_DEPTH + 1):
        nested = [nested]
    assert "bad_meta" == refusal(entry(meta={"deep": nested}))
    assert "bad_json" == refusal(raw_entry(b'{"meta":' + b"[" * 200_000))


def test_a_tools_result_is_cut_and_the_cut_is_told() -> None:
    """16 KiB of a log are enough to learn from; how much went is kept, so that nobody takes the rest for silence."""
    tool = {"name": "terminal", "result": "x" * (event.MAX_TOOL_RESULT_CHARS + 5), "cut": 7}
    (found,) = event.decode(entry(tools=[tool])).tools
    assert (event.MAX_TOOL_RESULT_CHARS, 12) == (len(found.result), found.cut)


# --- text that a database can't hold ---------------------------------------------------------------------------------


def test_nuls_and_lone_surrogates_become_the_replacement_character_everywhere() -> None:
    """Postgres refuses both, in text and in JSON: one such character in a pasted file would block its session."""
    dirty = "a\x00b\ud800c"
    found = event.decode(
        entry(
            user_text=dirty,
            session=dirty,
            tools=[{"name": dirty, "args": dirty, "result": dirty}],
            meta={dirty: [dirty, {"k": dirty}]},
            body={"text": dirty},
        )
    )
    clean = "a\ufffdb\ufffdc"
    assert (clean, clean) == (found.user_text, found.session)
    assert (ToolCall(clean, clean, clean),) == found.tools
    assert {clean: [clean, {"k": clean}]} == found.meta
    assert {"text": clean} == found.body


def test_a_lone_surrogate_is_refused_when_sent() -> None:
    """The producer cleans before it fingerprints; sending what can't be written is its bug, told at once."""
    with pytest.raises(MalformedEvent, match="broken_unicode"):
        event.encode(replace(event.check(GOOD), user_text="\ud800"))


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\xff\xfe", "broken_unicode"),
        (json.dumps(GOOD).encode("utf-16"), "broken_unicode"),
        (b"", "bad_json"),
        (b"[]", "bad_json"),
        (b'"turn"', "bad_json"),
        (b'{"v": 1', "bad_json"),
        (b'{"v": 1, "meta": {"x": NaN}}', "bad_json"),
    ],
)
def test_what_is_not_json_in_utf8_is_refused(raw: bytes, code: str) -> None:
    """NaN is Python's, not JSON's: Postgres would refuse it after we had taken it."""
    assert code == refusal(raw_entry(raw))


def test_a_number_too_large_for_json_is_refused() -> None:
    """1e999 reads as infinity and would be written back as something that is not JSON."""
    assert "bad_meta" == refusal(raw_entry(json.dumps({**GOOD, "meta": {"x": 0}}).replace(": 0}", ": 1e999}").encode()))


def test_an_entry_without_an_event_is_refused() -> None:
    """Somebody else's stream entry, or an older form."""
    assert "no_event" == refusal({b"payload": b"{}"})


# --- whose was it? ---------------------------------------------------------------------------------------------------


def test_a_refused_event_still_tells_its_number() -> None:
    """The receipt has no gap at a quarantined turn: its number is accounted for though its text is not kept."""
    assert "k3v9:17" == event.peek_id(entry(kind="gossip"))


@pytest.mark.parametrize("fields", [raw_entry(b"\xff"), entry(id="no number"), entry(id=17), entry(id="k3v9:1\n"), {}])
def test_a_number_that_can_t_be_trusted_is_not_told(fields: dict[bytes, bytes]) -> None:
    """A guessed number would acknowledge somebody else's turn."""
    assert event.peek_id(fields) is None


def test_unknown_fields_are_ignored() -> None:
    """A newer producer may add fields before the readers know them."""
    assert event.check(GOOD) == event.decode(entry(mood="tired"))


def test_what_may_be_left_out_has_its_default() -> None:
    """A host that publishes by hand needs to say only what it knows."""
    bare = {k: v for k, v in GOOD.items() if k not in {"lane", "meta", "body", "tools", "user_text", "assistant_text"}}
    found = event.check(bare)
    assert ("live", {}, {}, (), "", "") == (
        found.lane, found.meta, found.body, found.tools, found.user_text, found.assistant_text
    )  # fmt: skip


def test_an_id_tells_installation_and_number() -> None:
    """A cloned home delivers as `<base>.<suffix>`, a forked one is filed as `<install>~<fp8>`; enrolled is the base."""
    found = event.check({**GOOD, "id": "k3v9.b7f001~01ab23cd:42"})
    assert ("k3v9.b7f001~01ab23cd", 42) == (found.install, found.seq)
    assert "k3v9" == event.base_install(found.install)


# --- the fingerprint -------------------------------------------------------------------------------------------------


def test_the_fingerprint_never_changes() -> None:
    """Every outbox and every `turns` table holds these: another value for the same turn would store it twice."""
    golden = "fa7c6516ff6494fc032a5dc3539e8ba555a2c07d888ef984c7ce85ddf66fcbf7"
    assert golden == event.fingerprint("default\nlocal", "s1", "moved to 8091", "Noted.", 0)


def test_the_fingerprint_forgives_line_ends_outer_space_and_composition() -> None:
    """The same words, as the host hands them live and as its store gives them back later."""
    live = event.fingerprint("u", "s", "Grüße\r\nzweite Zeile ", "Noted.", 0)
    stored = event.fingerprint("u", "s", "Gru\u0308ße\nzweite Zeile", "Noted.\n", 0)
    assert live == stored


parts = st.tuples(texts, texts, texts, texts, st.integers(0, 5))


@given(parts, parts)
def test_different_turns_differ_in_their_fingerprint(one: Any, other: Any) -> None:
    """Each part counts, and by its own length: "ab" + "c" is not "a" + "bc"."""
    same = (*one[:2], *map(event.normalised, one[2:4]), one[4]) == (
        *other[:2],
        *map(event.normalised, other[2:4]),
        other[4],
    )
    assert same == (event.fingerprint(*one) == event.fingerprint(*other))


def test_parts_can_t_be_shifted_into_one_another() -> None:
    """The property above seldom draws this case by itself."""
    assert event.fingerprint("u", "s", "ab", "c", 0) != event.fingerprint("u", "s", "a", "bc", 0)
