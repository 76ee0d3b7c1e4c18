"""Stands in for the host: tells a conversation again through the real provider, by lines of JSON on standard input.

    python -m nextlevel.producers.replay HERMES_HOME

    {"do": "turn", "session", "user", "assistant", "tools": [{"name", "args", "result"}], "at", "cwd", "occurrence"}
        → {"outcome": "kept" | "known" | "nothing", "ms"}
    {"do": "prefetch", "session", "query"} → {"context", "rung", "ms"}
    {"do": "waiting"} → {"waiting"}        turns of which Postgres has not yet told that it holds them

Each is answered by one line, or by {"error"}; the end of the input ends it. A turn told twice is one turn: `occurrence`
counts from 0 how often its pair of texts came before in its session.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .hermes import home
from .hermes.provider import Provider
from .shortterm import outbox

Command = Mapping[str, Any]
ARGUMENT = {"terminal": "command", "write_file": "path"}
"""By what name the host's tool takes what the conversation tells of its arguments."""


class Replay:
    """One agent's process: a provider for each session, as the host makes them."""

    def __init__(self, hermes_home: Path) -> None:
        self._path = hermes_home
        self._home = home.of(hermes_home)
        self._session = ""
        self._provider = Provider()

    def turn(self, command: Command) -> dict[str, Any]:
        provider = self._in_session(command["session"])
        before = self._home.counters.copy()
        since = time.monotonic()
        provider.sync_turn(
            command["user"],
            command["assistant"],
            session_id=command["session"],
            messages=_messages(command["user"], command["assistant"], command.get("tools", ())),
            at=command["at"],
            cwd=command["cwd"],
            occurrence=command["occurrence"],
        )
        took_ms = 1000 * (time.monotonic() - since)
        new = self._home.counters - before
        if new["sync_turn_failed"]:
            return {"error": "the turn was not kept; the log says why"}
        outcome = next((name for name in ("kept", "known") if new[name]), "nothing")
        return {"outcome": outcome, "ms": took_ms}

    def prefetch(self, command: Command) -> dict[str, Any]:
        provider = self._in_session(command["session"])
        since = time.monotonic()
        context = provider.prefetch(command["query"], session_id=command["session"])
        took_ms = 1000 * (time.monotonic() - since)
        return {"context": context, "rung": provider.last_recall.rung, "ms": took_ms}

    def waiting(self, _command: Command) -> dict[str, Any]:
        if not self._home.has_database:
            return {"waiting": 0}
        counts = outbox.counts(self._home.database)
        return {"waiting": counts["pending"] + counts["published"]}

    def _in_session(self, session: str) -> Provider:
        if session != self._session:
            self._provider.shutdown()
            self._session, self._provider = session, Provider()
            self._provider.initialize(
                session, hermes_home=str(self._path), platform="cli", agent_identity="default", agent_context="primary"
            )
        return self._provider


def _messages(user: str, assistant: str, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The turn as the host hands it over: in the form of the model's own protocol."""
    rows: list[dict[str, Any]] = [{"role": "user", "content": user}]
    for number, tool in enumerate(tools):
        arguments = json.dumps({ARGUMENT.get(tool["name"], "input"): tool.get("args", "")}, ensure_ascii=False)
        function = {"name": tool["name"], "arguments": arguments}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        rows.append({"role": "assistant", "content": "", "tool_calls": [call]})
        rows.append({"role": "tool", "tool_call_id": call["id"], "content": tool.get("result", "")})
    return [*rows, {"role": "assistant", "content": assistant}]


def main() -> None:
    replay = Replay(Path(sys.argv[1]))
    commands: dict[str, Callable[[Command], dict[str, Any]]] = {
        "turn": replay.turn,
        "prefetch": replay.prefetch,
        "waiting": replay.waiting,
    }
    for line in sys.stdin:
        command = json.loads(line)
        print(json.dumps(commands[command["do"]](command)), flush=True)


if __name__ == "__main__":
    main()
