"""An agent's process that tells turns to the real plugin of a home, and ends."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime
from pathlib import Path


async def tell(home: Path, user: str, *, at: datetime | None = None) -> None:
    """One turn, kept in the home's outbox when this returns."""
    turn = {"do": "turn", "session": "s1", "user": user, "assistant": "Noted.", "cwd": str(home), "occurrence": 0}
    told = await _ask(home, {**turn, "at": (at or datetime.now(UTC)).isoformat()})
    assert "kept" == told.get("outcome"), told


async def _ask(home: Path, command: dict[str, object]) -> dict[str, object]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "nextlevel.producers.replay", str(home)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await asyncio.wait_for(process.communicate(json.dumps(command).encode() + b"\n"), 30)
    answer: dict[str, object] = json.loads(said.splitlines()[0])
    return answer
