"""Any file that holds conversations is understood by its content; any other is refused with what was expected."""

import json
from datetime import UTC, datetime

import pytest

from nextlevel.errors import UnusableFile
from nextlevel.workers.learn import transcripts
from tests.support import hermes

AT = 1_780_500_000  # 3 June 2026
PORT, ANSWER = "waldseilgarten-crm runs on port 8080", "Noted."


@pytest.fixture
def read(tmp_path):
    """Write a file and read it; the one conversation in it."""

    def run(content, name="export.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        [found] = transcripts.read(path)
        return found

    return run


def said(transcript):
    return [(each.user, each.assistant) for each in transcript.exchanges]


def test_the_hosts_own_export_is_read_with_its_tool_calls(tmp_path):
    """Made by the real Hermes, so that a new release that changes the form is noticed here."""
    call = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ss -ltn"}'}}
    messages = [
        {"role": "user", "content": PORT, "timestamp": AT},
        {"role": "assistant", "content": "", "tool_calls": [call], "timestamp": AT + 1},
        {"role": "tool", "content": "LISTEN 8080", "tool_call_id": "c1", "tool_name": "terminal", "timestamp": AT + 2},
        {"role": "assistant", "content": ANSWER, "timestamp": AT + 3},
    ]
    hermes.run("session_store", tmp_path, {"session": "20260603_120000_abcdef", "messages": messages})
    hermes.command(tmp_path, "sessions", "export", "out.jsonl")
    [found] = transcripts.read(tmp_path / "out.jsonl")
    [exchange] = found.exchanges
    assert (PORT, ANSWER) == (exchange.user, exchange.assistant.strip())
    assert [("terminal", "LISTEN 8080", True)] == [(tool.name, tool.result, tool.ok) for tool in exchange.tools]
    assert datetime.fromtimestamp(AT, UTC) == exchange.at


def node(parent, role, text, at, **more):
    content = {"content_type": "text", "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, "create_time": at, **more}}


def test_of_a_chatgpt_tree_only_the_branch_that_was_shown_last_is_read(read):
    """An edited question left its first version behind; nobody means that any more."""
    mapping = {
        "root": {"parent": None, "message": None},
        "hidden": node("root", "user", "profile", AT, metadata={"is_visually_hidden_from_conversation": True}),
        "old": node("hidden", "user", "it runs on port 9090", AT),
        "new": node("hidden", "user", PORT, AT + 5),
        "answer": node("new", "assistant", ANSWER, AT + 6),
    }
    found = read([{"title": "Ports", "id": "c-1", "mapping": mapping, "current_node": "answer"}])
    assert ("Ports", [(PORT, ANSWER)]) == (found.title, said(found))


def test_a_claude_export_is_read(read):
    messages = [
        {
            "sender": "human",
            "text": "",
            "content": [{"type": "text", "text": PORT}],
            "created_at": "2026-06-03T12:00:00Z",
        },
        {"sender": "assistant", "text": ANSWER, "created_at": "2026-06-03T12:00:05Z"},
    ]
    found = read([{"uuid": "u-1", "name": "Ports", "chat_messages": messages}, {"uuid": "u-2", "chat_messages": []}])
    assert ("Ports", [(PORT, ANSWER)]) == (found.title, said(found))
    assert datetime(2026, 6, 3, 12, tzinfo=UTC) == found.exchanges[0].at


@pytest.mark.parametrize(
    "text",
    [
        f"User: {PORT}\nAssistant: {ANSWER}\n",
        f"# notes\n\n**Human:** {PORT}\n\n**Claude:** {ANSWER}",
        f"Ich: {PORT}\nKI: {ANSWER}",
        f"用户：{PORT}\n助手：{ANSWER}",
    ],
)
def test_plain_text_is_read_by_the_names_of_its_speakers(read, text):
    assert [(PORT, ANSWER)] == said(read(text, "notes.txt"))


def test_what_one_side_says_in_a_row_is_one_text(read):
    found = read("User: one\nUser: two\nAssistant: three\nstill three\nUser: four\n", "notes.txt")
    assert [("one\n\ntwo", "three\nstill three"), ("four", "")] == said(found)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("once upon a time", "expected is a Hermes export"),
        ("[project]\nname = 'x'", "expected is a Hermes export"),
        ('{"messages": [', "not JSON, or cut off"),
        ('{"id": "a", "messages": []}\n{"id": "b", "mess', ":2: not JSON, or cut off"),
        ('{"rows": 3}', "expected is a Hermes export"),
        ('[{"id": "a", "messages": []}]', "there is no turn in it"),
        ('[{"mapping": {"a": {"message": "x", "parent": null}}}]', "an export, but not as expected"),
        ('[{"id": "a", "messages": [7]}]', "an export, but not as expected"),
        ("[" * 100_000, "nested too deep"),
        ("", "expected is a Hermes export"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_with_what_was_expected(tmp_path, content, told):
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(UnusableFile, match="file") as refused:
        transcripts.read(path)
    assert told in str(refused.value)


def test_what_cannot_be_read_at_all_is_refused_by_name(tmp_path):
    with pytest.raises(UnusableFile, match="No such file"):
        transcripts.read(tmp_path / "nowhere.json")
    with pytest.raises(UnusableFile, match="directory"):
        transcripts.read(tmp_path)
    (tmp_path / "export.zip").write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(UnusableFile, match="has to be unpacked first"):
        transcripts.read(tmp_path / "export.zip")
