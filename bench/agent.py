"""One agent's process, as Hermes would be: the real provider, asked and timed by lines of JSON.

    python -m bench.agent HERMES_HOME

    {"do": "prefetch", "query"} → {"ms", "rung", "why", "service": {"rung", "vectors", "ms"} or null}
    {"do": "queue", "query"} → {}            queue_prefetch: have the answer kept for the next turn
    {"do": "turn", "user", "assistant"} → {"ms"}
    {"do": "get", "key"} → {"ms"}            a bare Redis GET, by the plugin's own client on a kept connection

`service` is what the recall service told beside its context; null where a lower rung of the plugin's ladder answered.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.provider import Provider
from nextlevel.wire.http import Answer, JsonClient

GET_WITHIN_S = 1.0


class Agent:
    """A provider in one session, and an ear on what the service answers it."""

    def __init__(self, path: Path) -> None:
        self._home = homes.of(path)
        self._provider = Provider()
        self._provider.initialize(f"bench-{time.time_ns()}", hermes_home=str(path), platform="cli")
        self._heard: dict[str, Any] | None = None
        service = self._home.service
        if service is not None:
            service.request = self._listening(service)  # type: ignore[method-assign]

    def _listening(self, service: JsonClient) -> Callable[..., Answer]:
        ask = service.request

        def request(*args: Any, **kwargs: Any) -> Answer:
            answer = ask(*args, **kwargs)
            if answer.ok:
                self._heard = {name: answer.body.get(name) for name in ("rung", "vectors", "ms")}
            return answer

        return request

    def prefetch(self, query: str) -> dict[str, Any]:
        self._heard = None
        since = time.perf_counter()
        self._provider.prefetch(query)
        ms = 1000 * (time.perf_counter() - since)
        last = self._provider.last_recall
        return {"ms": ms, "rung": last.rung, "why": last.why, "service": self._heard}

    def queue(self, query: str) -> dict[str, Any]:
        self._provider.queue_prefetch(query)
        return {}

    def turn(self, user: str, assistant: str) -> dict[str, Any]:
        since = time.perf_counter()
        self._provider.sync_turn(user, assistant)
        return {"ms": 1000 * (time.perf_counter() - since)}

    def get(self, key: str) -> dict[str, Any]:
        redis = self._home.redis
        if redis is None:
            raise ValueError("this home has no redis_url")
        since = time.perf_counter()
        redis.call("GET", key, timeout_s=GET_WITHIN_S)
        return {"ms": 1000 * (time.perf_counter() - since)}


def main() -> None:
    agent = Agent(Path(sys.argv[1]))
    commands: Mapping[str, Callable[..., dict[str, Any]]] = {
        "prefetch": agent.prefetch,
        "queue": agent.queue,
        "turn": agent.turn,
        "get": agent.get,
    }
    for line in sys.stdin:
        command = json.loads(line)
        print(json.dumps(commands[command.pop("do")](**command)), flush=True)


if __name__ == "__main__":
    main()
