"""Plain text in which each side's words begin with its name: "User: …", "Assistant: …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from .transcripts import Message, Transcript, exchanges

_USER = r"user|human|you|me|ich|du|benutzer(?:in)?|nutzer(?:in)?|användare|jag|użytkownik|ja|用户|用戶|我|ユーザー|私"
_ASSISTANT = r"assistant|ai|bot|agent|model|chatgpt|gpt|claude|hermes|assistent(?:in)?|ki|asystent|助手|アシスタント"
# At a line's start, perhaps as Markdown: "**User:**", "### Assistant".
_SPEAKER = re.compile(
    rf"^[ \t]*(?:#{{1,6}}[ \t]*)?(?:\*\*)?(?:(?P<user>{_USER})|(?P<assistant>{_ASSISTANT}))"
    r"(?:\*\*)?[ \t]*[:：](?:\*\*)?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)


def transcripts(text: str, name: str, changed: datetime) -> list[Transcript] | None:
    """The one conversation of a text, dated by its file; None where no line names the user as speaker."""
    messages = list(_messages(text, changed))
    if not any(message.role == "user" for message in messages):
        return None
    return [Transcript(name, "", exchanges(messages))]


def _messages(text: str, at: datetime) -> Iterator[Message]:
    starts = list(_SPEAKER.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=False):
        said = text[start.end() : end].strip()
        if said:
            yield Message("user" if start["user"] else "assistant", said, at)
