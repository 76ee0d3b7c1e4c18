"""`nextlevel recall` from outside: what it shows of an answer that comes by session."""

from __future__ import annotations

import json

from tests.support.command import nextlevel
from tests.support.service import running

SESSION = {
    "session": "s7",
    "at": "2026-06-03T09:00:00Z",
    "in_time": False,
    "title": "Docker\x1b[2J",
    "topics": [],
    "decisions": ["an MTU of 1400"],
    "open_ends": ["tell Flo"],
    "ended_with": [],
    "quotes": [{"turn": "a:1", "session": "s7", "at": "2026-06-03T09:00:00Z", "text": "the bridge drops packets"}],
    "changes": [
        {"then": "bridge: MTU 1400", "now": "bridge: MTU 1450"},
        {"then": "registry: port 5000", "now": "registry: port 5000"},
        {"then": "proxy: caddy", "now": None},
    ],
}


async def test_what_was_discussed_is_shown_by_session_then_and_now(tmp_path):
    """When, what it came to, in which words, and whether it still holds."""
    with running() as service:
        service.body = json.dumps(
            {"context": "", "items": [], "rung": "sql", "ms": 1, "abstained": False, "sessions": [SESSION]}
        ).encode()
        words = ("recall", "did we discuss docker last week?")
        code, out, _ = await nextlevel("--data-dir", str(tmp_path), *words, NEXTLEVEL_SERVICE_URL=service.url)
    assert 0 == code
    assert "\x1b" not in out
    for line in (
        "2026-06-03  Docker",
        "s7 (not at the time that was asked for)",
        '"the bridge drops packets"',
        "decided  an MTU of 1400",
        "open     tell Flo",
        "then     bridge: MTU 1400; now bridge: MTU 1450",
        "then     registry: port 5000; still so",
        "then     proxy: caddy; now nothing of it holds",
    ):
        assert line in out
