"""Runs in Hermes's own Python: whole turns of the real agent against a fake model, with the plugin of a home active.

    HERMES_HOME=… python agent_turns.py '{"messages": ["…"], "compact_before": 8, "in_place": false}'

`compact_before` is the number of the message, from 0, before which the agent's own compaction runs; before those in
`undo_before` and `retry_before` the command line's own /undo and /retry; before `review_before` the background review
of the turn before has written MEMORY.md. Prints one JSON document: what went over the wire to the model, and what the
agent answered. Nothing leaves the machine: proxies point at a closed port, and only 127.0.0.1 is exempt.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from fake_openai import MODEL, FakeOpenAI, text_of

SIDE = [{"text": "A short title", "match": "(?i)title"}, {"text": "SUMMARY.", "match": "(?i)summar|checkpoint"}]


def closed_network() -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        os.environ[name] = os.environ[name.upper()] = "http://127.0.0.1:9"
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1,localhost"
    os.environ["OPENAI_API_KEY"] = "not-a-real-key"


def configure(home: Path, base_url: str, *, in_place: bool) -> None:
    (home / "config.yaml").write_text(
        f"memory:\n  provider: nextlevel\ncompression:\n  in_place: {str(in_place).lower()}\n"
        f"model:\n  default: {MODEL}\n  provider: custom\n  base_url: {base_url}\n  api_key: none\n"
        "  context_length: 131072\ndisplay:\n  interface: cli\nagent:\n  max_turns: 8\n",
        encoding="utf-8",
    )


def typed(command: str, agent: Any, history: list[Any]) -> list[Any]:
    """What is left of a conversation after the command line's own /undo or /retry."""
    from cli import HermesCLI

    agent._memory_manager.flush_pending(timeout=30)  # as if a person read the answer before going on
    line = SimpleNamespace(
        agent=agent,
        conversation_history=history,
        session_id=agent.session_id,
        _session_db=agent._session_db,
        _undo_content_to_text=HermesCLI._undo_content_to_text,
    )
    if command == "undo":
        HermesCLI.undo_last(line, 1, prefill=False)
    else:
        HermesCLI.retry_last(line)
    return line.conversation_history


def reviewed(home: Path) -> None:
    """Wait for what the host's own background review writes, on a thread and with an agent that nobody tells us of."""
    ends = time.monotonic() + 60
    while not (home / "memories" / "MEMORY.md").exists():
        if time.monotonic() > ends:
            raise SystemExit("the background review wrote nothing within a minute")
        time.sleep(0.02)


def main() -> None:
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    home = Path(os.environ["HERMES_HOME"])
    out: dict[str, Any] = {"replies": []}
    real_stdout, sys.stdout = sys.stdout, sys.stderr  # Hermes prints progress, even when told to be quiet
    closed_network()
    with FakeOpenAI([*SIDE, *wanted.get("script", [])]) as model:
        configure(home, model.base_url, in_place=wanted.get("in_place", True))
        if "review_before" in wanted:
            path = home / "config.yaml"
            path.write_text(path.read_text().replace("provider: nextlevel", "provider: nextlevel\n  nudge_interval: 1"))
        from hermes_state import SessionDB
        from run_agent import AIAgent

        agent = AIAgent(
            base_url=model.base_url,
            api_key="none",
            provider="custom",
            model=MODEL,
            quiet_mode=True,
            platform="cli",
            enabled_toolsets=["memory", "todo"],
            session_db=SessionDB(),
            skip_context_files=True,
            max_iterations=6,
            session_id="sess-basic",
        )
        history = None
        for number, text in enumerate(wanted["messages"]):
            if number == wanted.get("compact_before"):
                agent._memory_manager.flush_pending(timeout=30)  # as if a person read the answer before going on
                agent.context_compressor.protect_last_n = 2
                history, _ = agent._compress_context(history, None, approx_tokens=9_000, force=True)
                out["session"] = agent.session_id
            if number == wanted.get("review_before"):
                reviewed(home)
            for command in ("undo", "retry"):
                if number in wanted.get(f"{command}_before", ()):
                    history = typed(command, agent, history)
            result = agent.run_conversation(text, conversation_history=history)
            history = result["messages"]
            out["replies"].append(result.get("final_response"))
        agent.shutdown_memory_provider(agent._session_messages)
        turns = [request for request in model.requests if request.get("tools")]
        aside = [r for r in model.requests if r.get("messages") and not r.get("tools")]
        out["aside"] = [text_of(r["messages"][-1]["content"]) for r in aside]
        out["wire"] = [[text_of(m["content"]) for m in r["messages"] if m["role"] == "user"] for r in turns]
        out["results"] = [[text_of(m["content"]) for m in r["messages"] if m["role"] == "tool"] for r in turns]
        out["last"] = [text_of(m["content"]) for m in turns[-1]["messages"]]
        out["system"] = [text_of(r["messages"][0]["content"]) for r in turns]
        out["tools"] = sorted(tool["function"]["name"] for tool in turns[0]["tools"])
    print(json.dumps(out, ensure_ascii=False), file=real_stdout, flush=True)


if __name__ == "__main__":
    main()
