"""Runs in Hermes's own Python: turns that are not a plain question with an answer, one kind a session.

    HERMES_HOME=… python odd_turns.py '{}'

Prints for each kind what went over the wire as the user's last message, and what the host says of itself.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from agent_turns import SIDE, closed_network, configure
from fake_openai import MODEL, FakeOpenAI, text_of

_PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Kinds:
    """Each method is a kind of turn."""

    def __init__(self, model: FakeOpenAI) -> None:
        from hermes_state import SessionDB

        self._model, self._store = model, SessionDB()
        self._agents: list[Any] = []

    def agent(self, session: str, **more: Any) -> Any:
        from run_agent import AIAgent

        made = AIAgent(
            base_url=self._model.base_url,
            api_key="none",
            provider="custom",
            model=MODEL,
            quiet_mode=True,
            enabled_toolsets=["memory", "todo"],
            session_db=self._store,
            skip_context_files=True,
            max_iterations=6,
            session_id=session,
            **{"platform": "cli", **more},
        )
        self._agents.append(made)
        return made

    def skill(self) -> None:
        from agent import skill_commands

        head = f'{skill_commands._SKILL_INVOCATION_PREFIX}"deploy" skill. {skill_commands._SINGLE_SKILL_MARKER}'
        body = "# Deploy\nThe secret ingredient of this skill."
        asked = f"{skill_commands._SINGLE_SKILL_INSTRUCTION}ship version 2 to staging"
        self.agent("skill").run_conversation(f"{head}\n\n{body}\n\n{asked}")

    def image(self) -> None:
        parts = [
            {"type": "text", "text": "what is on this picture?"},
            {"type": "image_url", "image_url": {"url": _PIXEL}},
        ]
        self.agent("image").run_conversation(parts)

    def failure(self) -> None:
        agent = self.agent("failure")
        history = agent.run_conversation("this call fails")["messages"]
        agent.run_conversation("after the failure", conversation_history=history)

    def interrupt(self) -> None:
        agent = self.agent("interrupt")
        threading.Thread(target=lambda: (self._model.slow.wait(30), agent.interrupt("stop"))).start()
        agent.run_conversation("this one is interrupted")

    def resume(self) -> None:
        self.agent("resume").run_conversation("first half")
        history = self._store.get_messages_as_conversation("resume", repair_alternation=True)
        self.agent("resume").run_conversation("second half", conversation_history=history)

    def shared(self) -> None:
        """Two users of an API server that chose one session id."""
        for user in ("ann", "ben"):
            agent = self.agent("shared", platform="api_server", gateway_session_key=f"key-{user}")
            agent.run_conversation(f"{user} keeps the spare key in the greenhouse")

    def machine(self) -> None:
        """Scheduled jobs, sub-agents, reviews: the host makes them without memory."""
        self.agent("machine", skip_memory=True).run_conversation("report the state of the disk")


class Model(FakeOpenAI):
    """Answers one question late, and tells when it was asked."""

    slow = threading.Event()

    def next(self, request: dict[str, Any]) -> dict[str, Any]:
        step: dict[str, Any] = super().next(request)
        if step.get("hang"):
            self.slow.set()
        return step


def main() -> None:
    home = Path(os.environ["HERMES_HOME"])
    real_stdout, sys.stdout = sys.stdout, sys.stderr  # Hermes prints progress, even when told to be quiet
    closed_network()
    odd = [
        {"status": 400, "match": r"\Athis call fails(\n\n<memory|\Z)"},
        {"hang": True, "match": r"\Athis one is interrupted"},
    ]
    wire: dict[str, list[str]] = {}
    with Model([*SIDE, *odd]) as model:
        configure(home, model.base_url, in_place=True)
        kinds = Kinds(model)
        for name in ("skill", "image", "failure", "interrupt", "resume", "shared", "machine"):
            before = len(model.requests)
            getattr(kinds, name)()
            asked = [request["messages"] for request in model.requests[before:] if request.get("messages")]
            wire[name] = [
                [text_of(row["content"]) for row in rows if row["role"] == "user"][-1]
                for rows in asked
                if len(rows) > 1
            ]
        for agent in kinds._agents:
            agent.shutdown_memory_provider(agent._session_messages)
        import cron.scheduler
        import tools.delegate_tool

        skips = ["skip_memory=True" in inspect.getsource(each) for each in (cron.scheduler, tools.delegate_tool)]
        offered = {tool["function"]["name"] for tool in model.requests[-1].get("tools") or []}
    told = {"wire": wire, "machines_skip_memory": skips, "machine_tools": sorted(offered)}
    print(json.dumps(told, ensure_ascii=False), file=real_stdout, flush=True)
    os._exit(0)  # a request that hangs for ever is no reason to stay


if __name__ == "__main__":
    main()
