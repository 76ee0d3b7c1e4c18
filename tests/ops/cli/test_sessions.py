"""`nextlevel sessions` from outside: what it asks the service for, and what it shows."""

from __future__ import annotations

import json

from tests.support.command import nextlevel
from tests.support.service import running

STATE = {"user": "the backup is still open", "assistant": "Noted: caddy it is", "at": "2026-05-12T09:34:00+02:00"}
DIGEST = {
    "title": "The deploy of the crm hangs",
    "topics": ["kestrel-03", "caddy"],
    "decisions": [{"text": "we stay with caddy\x1b[2J", "at": "2026-05-12T09:33:00+02:00"}],
    "open_ends": [{"text": "plan the backup", "at": "2026-05-12T09:34:00+02:00"}],
    "state": STATE,
}
CLOSED = {"session": "s1", "last_at": "2026-05-12T09:34:00+02:00", "turns": 5, "digest": DIGEST}
OPEN = {"session": "s2", "last_at": "2026-05-12T11:00:00+02:00", "turns": 1, "digest": None}


async def ask(tmp_path, body, *words):
    with running() as service:
        service.body = json.dumps(body).encode()
        done = await nextlevel("--data-dir", str(tmp_path), "sessions", *words, NEXTLEVEL_SERVICE_URL=service.url)
        return done, service.asked


async def test_each_session_is_shown_with_what_it_came_to(tmp_path):
    (code, out, _), asked = await ask(tmp_path, {"sessions": [OPEN, CLOSED], "next": None}, "--limit", "2")
    assert 0 == code
    assert "2026-05-12 11:00  (no digest yet)  · 1 turns · s2" in out
    for line in (
        "The deploy of the crm hangs",
        "about    kestrel-03, caddy",
        "open     plan the backup",
        "last     user:",
    ):
        assert line in out
    assert "decided  we stay with caddy" in out
    assert "\x1b" not in out
    assert "limit=2" in asked[0][1]


async def test_json_is_the_services_own(tmp_path):
    (code, out, _), _ = await ask(tmp_path, {"sessions": [CLOSED], "next": None}, "--json")
    assert (0, [CLOSED]) == (code, json.loads(out))


async def test_it_says_when_there_was_no_conversation_yet(tmp_path):
    (code, out, _), _ = await ask(tmp_path, {"sessions": [], "next": None})
    assert (0, "no conversations yet\n") == (code, out)
