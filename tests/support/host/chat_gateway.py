"""Runs in Hermes's own Python: its real gateway, with a chat platform that sends nothing anywhere.

    HERMES_HOME=… python chat_gateway.py '{"said": [{"text", "user", "chat", "chat_type", "thread"}, …]}'

Each message is handled like one of Telegram's, `/new`, `/undo` and `/retry` included; then the gateway stops cleanly.
Prints what the gateway replied, and what went over the wire as the user's last message, in order.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from agent_turns import SIDE, closed_network, configure
from fake_openai import FakeOpenAI, text_of


async def handle(said: list[dict[str, str]]) -> list[str]:
    from gateway.config import Platform, PlatformConfig
    from gateway.platforms.base import BasePlatformAdapter, MessageEvent, SendResult
    from gateway.run import GatewayRunner
    from gateway.session import SessionSource

    class Silent(BasePlatformAdapter):  # type: ignore[misc]
        async def connect(self, *, is_reconnect: bool = False) -> bool:
            return True

        async def disconnect(self) -> None:
            """Nothing was connected."""

        async def send(self, chat_id: str, content: str, **kwargs: Any) -> Any:
            return SendResult(success=True, message_id="1")

        async def get_chat_info(self, chat_id: str) -> dict[str, str]:
            return {"name": chat_id, "type": "dm"}

    runner = GatewayRunner()
    runner.adapters[Platform.TELEGRAM] = Silent(PlatformConfig(enabled=True, token="t"), Platform.TELEGRAM)
    replies = []
    for each in said:
        source = SessionSource(
            platform=Platform.TELEGRAM,
            user_id=each["user"],
            user_name=f"user-{each['user']}",
            chat_id=each.get("chat", each["user"]),
            chat_type=each.get("chat_type", "dm"),
            thread_id=each.get("thread"),
        )
        replies.append(
            str(await runner._handle_message(MessageEvent(text=each["text"], source=source, message_id="m")))
        )
    await asyncio.wait_for(runner.stop(), 60)
    return replies


def main() -> None:
    wanted: dict[str, Any] = json.loads(sys.argv[1])
    home = Path(os.environ["HERMES_HOME"])
    real_stdout, sys.stdout = sys.stdout, sys.stderr  # Hermes prints progress, even when told to be quiet
    closed_network()
    os.environ["GATEWAY_ALLOW_ALL_USERS"] = "true"
    with FakeOpenAI(SIDE) as model:
        configure(home, model.base_url, in_place=True)
        with (home / "config.yaml").open("a", encoding="utf-8") as config:
            config.write("approvals:\n  destructive_slash_confirm: false\n")  # else /new only asks
        replies = asyncio.run(handle(wanted["said"]))
        rows = [request["messages"] for request in model.requests if request.get("tools")]
    wire = [[text_of(row["content"]) for row in each if row["role"] == "user"][-1] for each in rows]
    print(json.dumps({"replies": replies, "wire": wire}, ensure_ascii=False), file=real_stdout, flush=True)


if __name__ == "__main__":
    main()
