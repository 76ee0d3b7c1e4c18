"""One turn out of what the host hands over."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from nextlevel.event import MAX_EVENT_BYTES
from nextlevel.producers.hermes.speaker import Speaker
from nextlevel.producers.hermes.turns import compose
from nextlevel.producers.shortterm.outbox import Draft
from nextlevel.safety.markers import HEADER

TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, **more}


def call(name: str, arguments: str, id: str = "c1") -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": id, "function": {"name": name, "arguments": arguments}}],
    }


def result(text: str, id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def composed(said: str, answer: str = "ok", messages: list[dict[str, Any]] | None = None, **more: Any) -> Draft:
    draft = compose(said, answer, messages, **{"speaker": Speaker(), "session": "s1", "meta": {}, **more})
    assert draft is not None
    return draft


def test_only_the_current_turn_is_taken() -> None:
    """The list is the whole conversation, and may hold other people's turns."""
    draft = composed(
        "second",
        messages=[
            user("first"),
            call("terminal", "ls", "c0"),
            result("a", "c0"),
            user("second"),
            call("terminal", "pwd"),
            result("/src"),
        ],
    )
    assert [("terminal", "pwd", "/src", True)] == [(t.name, t.args, t.result, t.ok) for t in draft.tools]


def test_rows_that_the_host_adds_inside_a_turn_do_not_hide_its_beginning() -> None:
    """Hermes puts user rows of its own between tool calls."""
    messages = [
        user("fix it"),
        call("terminal", "ls"),
        result("a"),
        user("[System: keep going]"),
        call("read", "x", "c2"),
        result("b", "c2"),
    ]
    assert ["terminal", "read"] == [tool.name for tool in composed("fix it", messages=messages).tools]


def test_a_turn_that_is_not_in_the_conversation_has_no_tools() -> None:
    """Nothing is guessed: it might be somebody else's."""
    assert () == composed("mine", messages=[user("theirs"), call("terminal", "ls"), result("a")]).tools


def test_a_message_with_an_image_is_found_by_its_text() -> None:
    """Its content is a list of parts."""
    parts = [{"type": "text", "text": "what is this?"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    assert 1 == len(composed("what is this?", messages=[user(parts), call("look", "{}"), result("a cat")]).tools)


def test_what_the_host_sent_to_the_model_is_never_read() -> None:
    """`api_content` holds our own injected block."""
    draft = composed("hi", messages=[user("hi", api_content="hi <memory-context>old</memory-context>")])
    assert "old" not in json.dumps([draft.user_text, draft.assistant_text, draft.meta])


def test_the_hosts_own_list_is_left_as_it_is() -> None:
    """It is the live conversation, not a copy."""
    messages = [user(f"use {TOKEN}", api_content="x"), call("t", TOKEN), result(f"{HEADER}\n- old")]
    before = copy.deepcopy(messages)
    composed(f"use {TOKEN}", messages=messages)
    assert before == messages


def test_secrets_are_gone_before_anything_is_written() -> None:
    """From every text of the turn; what went is counted by kind."""
    draft = composed(f"use {TOKEN}", f"I use {TOKEN}", [user(f"use {TOKEN}"), call("t", TOKEN), result(TOKEN)])
    texts = [draft.user_text, draft.assistant_text, draft.tools[0].args, draft.tools[0].result]
    assert all("[redacted:" in text and TOKEN not in text for text in texts)
    assert 4 == sum(draft.meta["redactions"].values())


def test_a_secret_at_the_cut_is_not_left_as_half_a_secret() -> None:
    """Half a token is known as none."""
    draft = composed("x", messages=[user("x"), call("t", "{}"), result("y " * 8_180 + TOKEN)])
    assert "ghp_" not in draft.tools[0].result


def test_our_own_blocks_and_tools_are_not_learnt() -> None:
    """What we told is no news."""
    draft = composed(
        f"{HEADER}\n- the crm runs on port 8080\n\nand now?",
        "As recalled.",
        [user("and now?"), call("nextlevel_search", "{}"), result("port 8080")],
    )
    assert ("and now?", ()) == (draft.user_text.strip(), draft.tools)


def test_a_turn_of_our_own_words_alone_is_none() -> None:
    """There is nothing in it to keep."""
    assert compose(f"{HEADER}\n- x", "", None, speaker=Speaker(), session="s", meta={}) is None


def test_a_large_turn_is_cut_and_says_so() -> None:
    """An event has a limit; a turn that breaks it would be lost whole."""
    huge = "wort " * 200_000
    calls = [row for n in range(70) for row in (call("t", "ä" * 20_000, f"c{n}"), result("日" * 40_000, f"c{n}"))]
    draft = composed(huge, huge, [user(huge), *calls])
    assert 64 == len(draft.tools)
    assert {"user_text", "assistant_text", "tool_args", "tool_results", "tools"} == set(draft.meta["cuts"])
    assert MAX_EVENT_BYTES > len(
        json.dumps(
            [draft.user_text, draft.assistant_text, [[t.args, t.result] for t in draft.tools]], ensure_ascii=False
        ).encode()
    )


def test_text_that_grows_when_encoded_still_fits() -> None:
    """Control characters take six bytes each."""
    calls = [call("t", "\x01" * 5_000, f"c{n}") for n in range(64)]
    draft = composed("\x01" * 262_144, "\x01" * 262_144, [user("\x01" * 262_144), *calls])
    texts = [draft.user_text, draft.assistant_text, *(tool.args for tool in draft.tools)]
    assert MAX_EVENT_BYTES > len(json.dumps(texts).encode())
    assert 64 == len(draft.tools)


@pytest.mark.parametrize(
    ("answer", "ok"),
    [
        ('{"error": "no such file"}', False),
        ('{"success": false}', False),
        ('{"output": "x", "exit_code": 2}', False),
        ('{"output": "x", "exit_code": 0, "error": null}', True),
        ("Error: boom", False),
        ("{not json", True),
        ("all good", True),
    ],
)
def test_a_tools_own_word_tells_whether_it_ended_well(answer: str, ok: bool) -> None:
    """Only actions that ended well teach anything."""
    assert ok is composed("x", messages=[user("x"), call("t", "{}"), result(answer)]).tools[0].ok


def test_the_platforms_time_counts_where_it_is_told() -> None:
    """A message that waited in a queue was said when it was sent."""
    assert composed("x", messages=[user("x", timestamp=1_780_000_000.5)]).at.startswith("2026-05-")


def test_who_replays_a_conversation_names_the_time() -> None:
    """A month told today was not said today."""
    assert "2026-06-01T09:00:00+02:00" == composed("x", at="2026-06-01T09:00:00+02:00").at


@pytest.mark.parametrize(
    ("given", "principal"),
    [
        ({"platform": "telegram", "user_id": "42", "user_id_alt": "alt"}, "telegram:alt"),
        ({"platform": "telegram", "user_id": "42", "gateway_session_key": "k"}, "telegram:42"),
        ({"platform": "api_server", "gateway_session_key": "key-a"}, "key-a"),
        ({"platform": "cli"}, "local"),
        ({}, "local"),
    ],
)
def test_the_principal_is_who_the_host_says_it_is(given: dict[str, str], principal: str) -> None:
    """API users must not share one memory."""
    assert principal == Speaker.from_host(given).principal


def test_a_name_that_is_too_long_stays_its_own() -> None:
    """Two long keys with the same beginning are two people."""
    one, other = (Speaker.from_host({"gateway_session_key": "k" * 300 + end}).principal for end in "ab")
    assert one != other
    assert 256 == len(one)


@pytest.mark.parametrize(
    ("kind", "chat"), [("group", "telegram:c1"), ("channel", "telegram:c1"), ("dm", None), ("", None)]
)
def test_a_group_chat_is_known_as_one(kind: str, chat: str | None) -> None:
    """What is recalled there, all of the group sees."""
    assert chat == Speaker.from_host({"platform": "telegram", "chat_type": kind, "chat_id": "c1"}).chat
