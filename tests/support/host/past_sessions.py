"""Runs in Hermes's own Python: writes a home's session store by the host's own code, with all that an importer meets.

    HERMES_HOME=… python past_sessions.py '{"at": 1790000000.0}'

Prints the turns that were completed and stand: [[session, user, assistant], …].
"""

from __future__ import annotations

import json
import os
import sys
from itertools import count
from pathlib import Path
from typing import Any

from hermes_state import SessionDB


def main() -> None:
    at = float(json.loads(sys.argv[1])["at"])
    store = SessionDB(db_path=Path(os.environ["HERMES_HOME"]) / "state.db")
    clock = count()
    standing: list[tuple[str, str, str]] = []

    def put(session: str, role: str, content: Any, **more: Any) -> int:
        found: int = store.append_message(session, role, content, timestamp=at + 60 * next(clock), **more)
        return found

    def turn(session: str, user: Any, assistant: str, *, stands: bool = True, **more: Any) -> int:
        first = put(session, "user", user, **more)
        put(session, "assistant", assistant)
        if stands:
            standing.append((session, user if isinstance(user, str) else "my desk", assistant))
        return first

    store.create_session("plain", "cli", cwd="/project")
    turn("plain", "I write in vim.", "Noted.", api_content="I write in vim.\n\n<memory-context>old</memory-context>")
    put("plain", "user", "Which port has the CI?")
    function = {"name": "terminal", "arguments": '{"command": "grep port ci.yml"}'}
    put("plain", "assistant", "", tool_calls=[{"id": "c1", "type": "function", "function": function}])
    put("plain", "tool", "port: 9090", tool_name="terminal", tool_call_id="c1")
    put("plain", "assistant", "It has port 9090.")
    standing.append(("plain", "Which port has the CI?", "It has port 9090."))
    put("plain", "user", "this one was interrupted")

    store.create_session("rewound", "cli")
    turn("rewound", "We ship on Mondays.", "Noted.")
    store.rewind_to_message("rewound", turn("rewound", "We ship on Fridays.", "Noted.", stands=False))

    store.create_session("compacted", "cli")
    for number in range(4):
        turn("compacted", f"step {number}", f"done {number}")
    live = store.get_messages_as_conversation("compacted")
    summary = {"role": "assistant", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] Some steps."}
    store.archive_and_compact("compacted", [live[0], live[1], summary, live[-2], live[-1]])
    turn("compacted", "the step after", "done after")

    store.create_session("rotated", "cli")
    turn("rotated", "before it", "yes")
    store.end_session("rotated", "compression")
    store.create_session("rotated-2", "cli", parent_session_id="rotated")
    turn("rotated-2", "before it", "yes", stands=False)
    turn("rotated-2", "[CONTEXT COMPACTION — REFERENCE ONLY] It was.", "Going on.", stands=False)
    turn("rotated-2", "after it", "yes again")

    store.create_session("branch", "cli", parent_session_id="plain", model_config={"_branched_from": "plain"})
    turn("branch", "I write in vim.", "Noted.", stands=False)
    turn("branch", "only in the branch", "I see.")

    store.create_session("delegate", "subagent", model_config={"_delegate_from": "plain"})
    turn("delegate", "GOAL: read the log", "It is fine.", stands=False)
    store.create_session("cron", "cron")
    turn("cron", "Report.", "All well.", stands=False)
    store.create_session("group", "telegram", user_id="7", chat_id="g1", chat_type="group")
    turn("group", "[ann] hello", "Hello.", stands=False)
    store.create_session("dm", "telegram", user_id="42", session_key="dm:42", chat_id="42", chat_type="dm")
    turn("dm", "Short answers, please.", "OK.")
    turn("dm", [{"type": "text", "text": "my desk"}, {"type": "image_url", "image_url": {"url": "data:,"}}], "Nice.")
    put("dm", "user", "[bystander] not to you", observed=True)
    store.create_session("empty", "cli")
    store.create_session("archived", "cli")
    turn("archived", "The fair is in May.", "Understood.")
    store.set_session_archived("archived", True)
    store.close()
    print(json.dumps(standing))


if __name__ == "__main__":
    main()
