"""One turn out of what the host hands over: the current one only, clean of our own words and of secrets, bounded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from nextlevel.event import MAX_EVENT_BYTES, MAX_SESSION_CHARS, MAX_TOOL_RESULT_CHARS, MAX_TOOLS
from nextlevel.model import ToolCall
from nextlevel.producers.shortterm.outbox import Draft
from nextlevel.safety import markers
from nextlevel.safety.redact import redact

from .speaker import Speaker, bounded

MAX_TEXT_CHARS = 256 * 1024
MAX_ARGS_CHARS = 4 * 1024
OWN_TOOLS = "nextlevel_"
# A secret that a cut goes through is not known as one: what is cut off is scanned a little further than it is kept.
_SCAN_MARGIN = 4 * 1024

Message = Mapping[str, Any]


def compose(
    user: str,
    assistant: str,
    messages: Sequence[Message] | None,
    *,
    speaker: Speaker,
    session: str,
    meta: Mapping[str, Any],
    at: str | None = None,
    without_told: Callable[[str], str] = lambda text: text,
) -> Draft | None:
    """The turn as it will be kept, or None where nothing is left of it. `at` (RFC 3339) is when it was said.

    `without_told` takes out of a text what the model was told by us or by the host.
    """
    rows = current_rows(list(messages or ()), user)
    redactions: Counter[str] = Counter()
    cuts: dict[str, int] = {}

    def clean(name: str, text: str) -> str:
        text = without_told(markers.strip(text))
        return _kept(name, text, MAX_TEXT_CHARS, redactions, cuts)

    user_text, assistant_text = clean("user_text", user), clean("assistant_text", assistant)
    if not user_text.strip() and not assistant_text.strip():
        return None
    tools = _tools(rows, redactions, cuts)
    told = {"redactions": dict(redactions), "cuts": cuts}
    return _fitted(
        Draft(
            session=bounded(session, MAX_SESSION_CHARS),
            at=at or _said_at(rows),
            profile=speaker.profile,
            principal=speaker.principal,
            chat=speaker.chat,
            user_text=user_text,
            assistant_text=assistant_text,
            tools=tools,
            meta={**meta, **{name: value for name, value in told.items() if value}},
        )
    )


def current_rows(messages: Sequence[Message], user: str) -> Sequence[Message]:
    """From the last user row that holds what the user said. The host may have put user rows of its own behind it.

    The list is the whole conversation, which may hold other people's turns, so what is not found there is not guessed.
    """
    wanted = user.strip()
    for place in range(len(messages) - 1, -1, -1):
        row = messages[place]
        if row.get("role") == "user" and wanted and wanted in text_of(row.get("content")):
            return messages[place:]
    return ()


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or a list of typed parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def _tools(rows: Sequence[Message], redactions: Counter[str], cuts: dict[str, int]) -> tuple[ToolCall, ...]:
    """The tool calls of the turn with their results, in order. Those of our own tools only tell what we told."""
    results = {row.get("tool_call_id"): text_of(row.get("content")) for row in rows if row.get("role") == "tool"}
    found = []
    for row in rows:
        for call in row.get("tool_calls") or ():
            function = call.get("function") or {}
            name = str(function.get("name") or "")
            if not name or name.startswith(OWN_TOOLS):
                continue
            found.append((name, str(function.get("arguments") or ""), results.get(call.get("id"), "")))
    if len(found) > MAX_TOOLS:
        cuts["tools"] = len(found) - MAX_TOOLS  # the end of a long chain tells how it came out
    return tuple(_tool(*call, redactions, cuts) for call in found[-MAX_TOOLS:])


def _tool(name: str, args: str, result: str, redactions: Counter[str], cuts: dict[str, int]) -> ToolCall:
    return ToolCall(
        name=bounded(name, 256),
        args=_kept("tool_args", args, MAX_ARGS_CHARS, redactions, cuts),
        result=_kept("tool_results", markers.strip(result), MAX_TOOL_RESULT_CHARS, redactions, cuts),
        ok=_ended_well(result),
        cut=max(0, len(result) - MAX_TOOL_RESULT_CHARS),
    )


def _kept(name: str, text: str, limit: int, redactions: Counter[str], cuts: dict[str, int]) -> str:
    if len(text) > limit:
        cuts[name] = cuts.get(name, 0) + len(text) - limit
    redacted = redact(text[: limit + _SCAN_MARGIN])
    redactions.update(redacted.counts)
    return redacted.text[:limit]


def _ended_well(result: str) -> bool:
    """False where a tool's own answer says that it failed."""
    if not result.startswith("{"):
        return not result.startswith(("Error", "Traceback"))
    try:
        answer = json.loads(result)
    except (ValueError, RecursionError):
        return True
    return not (answer.get("error") or answer.get("success") is False or answer.get("exit_code", 0) not in (0, None))


def _said_at(rows: Sequence[Message]) -> str:
    """When the platform received the message, where the host tells, else now. In local time, with its offset."""
    stamp = rows[0].get("timestamp") if rows else None
    if isinstance(stamp, (int, float)) and not isinstance(stamp, bool) and 0 < stamp < 2**33:
        return datetime.fromtimestamp(stamp).astimezone().isoformat(timespec="seconds")
    return now()


def now() -> str:
    """This moment in local time, with its offset."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def _fitted(draft: Draft) -> Draft:
    """Within the size of an event. The texts alone always are, however they are encoded: what tools answered goes."""
    if _bytes(draft) <= MAX_EVENT_BYTES:
        return draft
    cuts = {**draft.meta.get("cuts", {}), "tool_results": sum(len(tool.result) + tool.cut for tool in draft.tools)}
    bare = tuple(
        replace(tool, args=tool.args[:256], result="", cut=len(tool.result) + tool.cut) for tool in draft.tools
    )
    return replace(draft, tools=bare, meta={**draft.meta, "cuts": cuts})


def _bytes(draft: Draft) -> int:
    """A little more than the event's size: its own fields are a few hundred bytes."""
    texts = [
        draft.user_text,
        draft.assistant_text,
        *(part for tool in draft.tools for part in (tool.args, tool.result)),
    ]
    return 8_192 + sum(len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) for text in texts)
