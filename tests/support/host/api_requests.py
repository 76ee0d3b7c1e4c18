"""Runs in Hermes's own Python: its OpenAI-compatible API server, with a client that sends it requests one by one.

    HERMES_HOME=… python api_requests.py '{"asked": [{"text", "session", "key"}, …]}'

`session` and `key` are what a client may name in headers. Prints what was replied, what went over the wire as the
user's last message, and which of our threads are left. The server is stopped, and the process ends as it is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from agent_turns import SIDE, closed_network, configure
from fake_openai import MODEL, FakeOpenAI, text_of

_KEY = "k" * 12 + "0123456789abcdef"
_KEPT_WITHIN_S = 60.0


async def ask(home: Path, asked: list[dict[str, str]]) -> list[str]:
    import aiohttp
    from gateway.config import PlatformConfig
    from gateway.platforms.api_server import APIServerAdapter

    adapter = APIServerAdapter(
        PlatformConfig(enabled=True, extra={"host": "127.0.0.1", "port": free_port(), "key": _KEY})
    )
    if not await adapter.connect():
        raise SystemExit("the API server did not start")
    replies = []
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {_KEY}"}) as client:
        for number, each in enumerate(asked, 1):
            names = {"X-Hermes-Session-Id": each.get("session"), "X-Hermes-Session-Key": each.get("key")}
            async with client.post(
                f"http://127.0.0.1:{adapter._port}/v1/chat/completions",
                headers={name: value for name, value in names.items() if value},
                json={"model": MODEL, "messages": [{"role": "user", "content": each["text"]}]},
            ) as response:
                answer = await response.json()
            replies.append(answer["choices"][0]["message"]["content"])
            await kept(home, number)  # as if a person read the answer before going on
    await adapter.disconnect()
    return replies


def free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


async def kept(home: Path, turns: int) -> None:
    """The host tells of a turn behind its answer, on a thread of its own."""
    ends = time.monotonic() + _KEPT_WITHIN_S
    path = home / "nextlevel" / "shortterm.db"
    while time.monotonic() < ends:
        if path.exists():
            connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
            try:
                if connection.execute("SELECT count(*) FROM outbox WHERE kind = 'turn'").fetchone()[0] >= turns:
                    return
            except sqlite3.OperationalError:
                pass  # it is being made
            finally:
                connection.close()
        await asyncio.sleep(0.02)
    raise SystemExit(f"turn {turns} did not come within a minute")


def main() -> None:
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    home = Path(os.environ["HERMES_HOME"])
    real_stdout, sys.stdout = sys.stdout, sys.stderr  # Hermes prints progress, even when told to be quiet
    closed_network()
    with FakeOpenAI(SIDE) as model:
        configure(home, model.base_url, in_place=True)
        replies = asyncio.run(ask(home, wanted["asked"]))
        rows = [request["messages"] for request in model.requests if request.get("tools")]
    wire = [[text_of(row["content"]) for row in each if row["role"] == "user"][-1] for each in rows]
    ours = sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("nextlevel"))
    print(json.dumps({"replies": replies, "wire": wire, "threads": ours}), file=real_stdout, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
