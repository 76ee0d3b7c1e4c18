"""Runs in Hermes's own Python: whole sessions of the real agent, one after another, each with who speaks in it.

    HERMES_HOME=… python sessions.py '{"sessions": [{"id", "messages": ["…"], "identity": {…}}], "echo": false}'

`identity` is what a gateway hands its agent: platform, user_id, chat_id, chat_type. With `echo` the model repeats what
it was given by recall, as models do. Prints, for each message of each session, what went over the wire as the user's
last message: {"<id>": ["…"]}.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from agent_turns import SIDE, closed_network, configure
from fake_openai import MODEL, FakeOpenAI, Step, text_of

_RECALLED = re.compile(r"<memory-context>.*?\n\n(.*?)\n</memory-context>", re.DOTALL)


class Parrot(FakeOpenAI):
    """A model that tells what it was reminded of."""

    def next(self, request: dict[str, Any]) -> Step:
        step = super().next(request)
        found = _RECALLED.search(_last(request))
        return {"text": f"As I recall:\n{found[1]}\nThat is what I know."} if found and request.get("tools") else step


def _last(request: dict[str, Any]) -> str:
    said = [text_of(row.get("content")) for row in request.get("messages", []) if row.get("role") == "user"]
    return said[-1] if said else ""


def main() -> None:
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    home = Path(os.environ["HERMES_HOME"])
    wire: dict[str, list[str]] = {}
    real_stdout, sys.stdout = sys.stdout, sys.stderr  # Hermes prints progress, even when told to be quiet
    closed_network()
    with (Parrot if wanted.get("echo") else FakeOpenAI)(SIDE) as model:
        configure(home, model.base_url, in_place=True)
        from hermes_state import SessionDB
        from run_agent import AIAgent

        for session in wanted["sessions"]:
            agent = AIAgent(
                base_url=model.base_url,
                api_key="none",
                provider="custom",
                model=MODEL,
                quiet_mode=True,
                enabled_toolsets=["memory", "todo"],
                session_db=SessionDB(),
                skip_context_files=True,
                max_iterations=6,
                session_id=session["id"],
                **{"platform": "cli", **session.get("identity", {})},
            )
            history = None
            for text in session["messages"]:
                before = len(model.requests)
                history = agent.run_conversation(text, conversation_history=history)["messages"]
                # The host's own review of the memory, after every tenth turn, may ask the model meanwhile.
                asked = [_last(request) for request in model.requests[before:] if request.get("tools")]
                wire.setdefault(session["id"], []).append(next((each for each in asked if text in each), ""))
                agent._memory_manager.flush_pending(timeout=30)  # as if a person read the answer before going on
            agent.shutdown_memory_provider(agent._session_messages)
    print(json.dumps(wire, ensure_ascii=False), file=real_stdout, flush=True)


if __name__ == "__main__":
    main()
