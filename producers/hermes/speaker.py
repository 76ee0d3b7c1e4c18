"""Who speaks, as far as the host says: it tells once, at `initialize`, and never again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nextlevel.producers.shortterm.search import Reader

_PRIVATE_CHATS = frozenset({"", "dm", "private", "direct"})


@dataclass(frozen=True, slots=True)
class Speaker:
    """One person, under one profile of the agent, at one place. The service maps it to tenant, user and scope."""

    profile: str = "default"
    principal: str = "local"
    platform: str = ""
    chat_type: str = ""
    chat_id: str = ""

    @classmethod
    def from_host(cls, given: Mapping[str, Any]) -> Speaker:
        """From the keyword arguments of `initialize`."""
        platform = _text(given, "platform")
        user = _text(given, "user_id_alt") or _text(given, "user_id")
        principal = f"{platform}:{user}" if user else _text(given, "gateway_session_key") or "local"
        return cls(
            profile=bounded(_text(given, "agent_identity") or "default", 128),
            principal=bounded(principal, 256),
            platform=platform,
            chat_type=_text(given, "chat_type"),
            chat_id=_text(given, "chat_id"),
        )

    @property
    def chat(self) -> str | None:
        """The group chat it is said in, else None. A group may only see what was said in it."""
        if self.chat_type.lower() in _PRIVATE_CHATS:
            return None
        return f"{self.platform}:{self.chat_id}"

    @property
    def is_local(self) -> bool:
        """True where the person sits at this machine, so that its working directory is theirs."""
        return self.principal == "local"

    @property
    def reader(self) -> Reader:
        return Reader(self.profile, self.principal, self.chat)


def profile_of(home: Path) -> str:
    """The agent's identity in a home, as the host makes it of the path."""
    return home.name if home.parent.name == "profiles" else "default"


def bounded(text: str, limit: int) -> str:
    """The text, or where it is too long its head and a hash of the whole: two long names never become one."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - 17]}~{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    return "" if value is None else str(value)
