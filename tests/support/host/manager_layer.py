"""Runs in Hermes's own Python: the real loader and MemoryManager on the plugin of a home, without a model or an agent.

    HERMES_HOME=… python manager_layer.py '{"turns": [["user", "assistant"], …], "tools": [["name", {…}]]}'

Prints one JSON document of what the host got.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    from agent.memory_manager import MemoryManager
    from plugins.memory import load_memory_provider
    from plugins.memory.config_schema import get_provider_config_schema

    provider = load_memory_provider("nextlevel")
    if provider is None or not provider.is_available():
        raise SystemExit("Hermes found no provider")
    manager = MemoryManager()
    manager.add_provider(provider)
    out: dict[str, Any] = {
        "name": provider.name,
        "tools": sorted(manager.get_all_tool_names()),
        "is_host_class": "MemoryProvider" in [each.__name__ for each in type(provider).__mro__],
        "library": sys.modules["nextlevel"].__file__,
    }
    out["settings"] = [field.key for field in get_provider_config_schema("nextlevel").fields]
    manager.initialize_all(
        "layer-1",
        platform="cli",
        agent_context="primary",
        hermes_home=os.environ["HERMES_HOME"],
        agent_identity="default",
        agent_workspace="hermes",
        **wanted.get("identity", {}),
    )
    out["prompt"] = manager.build_system_prompt()
    out["prompt_is_stable"] = out["prompt"] == manager.build_system_prompt()
    out["recalled"] = []
    messages: list[dict[str, str]] = []
    for number, (user, assistant) in enumerate(wanted["turns"], 1):
        manager.on_turn_start(number, user)
        out["recalled"].append(manager.prefetch_all(user))
        messages += [{"role": "user", "content": user}, {"role": "assistant", "content": assistant}]
        manager.sync_all(user, assistant, session_id="layer-1", messages=messages)
        manager.queue_prefetch_all(user, session_id="layer-1")
        out["flushed"] = manager.flush_pending(timeout=30)  # as if a person read the answer before going on
    out["answers"] = [
        json.loads(manager.handle_tool_call(name, arguments)) for name, arguments in wanted.get("tools", [])
    ]
    out["pre_compress"] = manager.on_pre_compress(messages)
    manager.on_session_switch("layer-1", parent_session_id="layer-1", reset=False, reason="compression")
    manager.on_session_end(messages)
    manager.shutdown_all()
    out["drain"] = manager.shutdown_drain_state
    print(json.dumps(out, ensure_ascii=False))


if __name__ == "__main__":
    main()
