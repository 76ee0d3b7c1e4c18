"""The JSON exports of Hermes, ChatGPT and Claude."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from nextlevel.model import ToolCall

from .transcripts import Message, Transcript, exchanges

# Rows that a host writes into a conversation by itself: summaries after a compaction, its own reviews.
_HOSTS_OWN = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:", "[PRIOR CONTEXT", "Review the conversation above and")
_AS_JSON = "\x00json:"


def transcripts(document: Any, changed: datetime) -> list[Transcript] | None:
    """The conversations of a parsed export, or None where it is none that we know. `changed` dates what has no date."""
    rows = document if isinstance(document, list) else [document]
    rows = [row for row in rows if isinstance(row, dict)]
    for key, reader in (("messages", _hermes), ("mapping", _chatgpt), ("chat_messages", _claude)):
        own = [row for row in rows if isinstance(row.get(key), list | dict)]
        if own:
            return [reader(row, changed) for row in own]
    return None


# ---- Hermes: `hermes sessions export`, an object a line


def _hermes(row: Mapping[str, Any], changed: datetime) -> Transcript:
    name = str(row.get("id") or row.get("session_id") or "session")
    return Transcript(name, str(row.get("title") or ""), exchanges(_hermes_messages(row["messages"], changed)))


def _hermes_messages(rows: Iterable[Mapping[str, Any]], changed: datetime) -> Iterator[Message]:
    rows = [row for row in rows if row.get("active", 1) or row.get("compacted")]  # the rest was undone
    results = {row.get("tool_call_id"): _text(row.get("content")) for row in rows if row.get("role") == "tool"}
    for row in rows:
        role, text = row.get("role"), _text(row.get("content"))
        calls = tuple(_calls(row.get("tool_calls"), results)) if role == "assistant" else ()
        if role not in ("user", "assistant") or row.get("observed") or text.startswith(_HOSTS_OWN):
            continue
        if text.strip() or calls:
            yield Message(role, text, _when(row.get("timestamp"), changed), calls)


def _calls(told: Any, results: Mapping[Any, str]) -> Iterator[ToolCall]:
    calls = json.loads(told) if isinstance(told, str) and told else told
    for call in calls or ():
        function = call.get("function") or {}
        result = results.get(call.get("id"), "")
        failed = result.startswith(("Error", "Traceback")) or '"exit_code": 1' in result
        yield ToolCall(str(function.get("name") or ""), str(function.get("arguments") or ""), result, not failed)


def _text(content: Any) -> str:
    """A string, or a list of typed parts, which Hermes keeps as JSON behind a mark."""
    if isinstance(content, str) and content.startswith(_AS_JSON):
        content = json.loads(content[len(_AS_JSON) :])
    if isinstance(content, list):
        return "\n".join(part if isinstance(part, str) else str(part.get("text") or "") for part in content)
    return content if isinstance(content, str) else ""


# ---- ChatGPT: conversations.json, a tree of messages


def _chatgpt(row: Mapping[str, Any], changed: datetime) -> Transcript:
    name = str(row.get("conversation_id") or row.get("id") or "conversation")
    return Transcript(name, str(row.get("title") or ""), exchanges(_chatgpt_messages(row, changed)))


def _chatgpt_messages(row: Mapping[str, Any], changed: datetime) -> Iterator[Message]:
    started = _when(row.get("create_time"), changed)
    for node in _branch(row["mapping"], row.get("current_node")):
        message = node.get("message") or {}
        role = (message.get("author") or {}).get("role")
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        content = message.get("content") or {}
        if role in ("user", "assistant") and not hidden and content.get("content_type") in ("text", "multimodal_text"):
            text = _text(content.get("parts"))
            if text.strip():
                yield Message(role, text, _when(message.get("create_time"), started))


def _branch(mapping: Mapping[str, Any], leaf: str | None) -> list[Mapping[str, Any]]:
    """The nodes from the root to the message shown last: edits and retries left other branches behind."""
    if leaf not in mapping:
        leaf = max(mapping, key=lambda each: _seconds((mapping[each].get("message") or {}).get("create_time")))
    found: dict[str, Mapping[str, Any]] = {}
    while leaf is not None and leaf in mapping and leaf not in found:
        found[leaf] = mapping[leaf]
        leaf = mapping[leaf].get("parent")
    return list(found.values())[::-1]


def _seconds(stamp: Any) -> float:
    return float(stamp) if isinstance(stamp, int | float) else 0.0


# ---- Claude: conversations.json, a list of messages


def _claude(row: Mapping[str, Any], changed: datetime) -> Transcript:
    name = str(row.get("uuid") or "conversation")
    return Transcript(name, str(row.get("name") or ""), exchanges(_claude_messages(row, changed)))


def _claude_messages(row: Mapping[str, Any], changed: datetime) -> Iterator[Message]:
    for message in row["chat_messages"]:
        role = {"human": "user", "assistant": "assistant"}.get(message.get("sender"))
        parts = [part for part in message.get("content") or () if part.get("type") == "text"]
        text = _text(parts) or str(message.get("text") or "")
        if role is not None and text.strip():
            yield Message(role, text, _when(message.get("created_at") or row.get("created_at"), changed))


def _when(stamp: Any, otherwise: datetime) -> datetime:
    """Seconds since 1970, or RFC 3339; in the zone of this machine, since exports have lost the speaker's."""
    if isinstance(stamp, int | float) and not isinstance(stamp, bool) and 0 < stamp < 2**33:
        return datetime.fromtimestamp(stamp).astimezone()
    if isinstance(stamp, str) and stamp:
        return datetime.fromisoformat(stamp.replace("Z", "+00:00")).astimezone()
    return otherwise
