"""The stand-in for the host: the demo and the crash tests tell their turns through it, so it must be the real road."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

TURN = {
    "do": "turn",
    "session": "s1",
    "user": "the api moved to 8091. password=Tr0pfsteinhoehle-77",
    "assistant": "Changed.",
    "tools": [{"name": "terminal", "args": "curl -sI localhost:8091", "result": "HTTP/1.1 200 OK"}],
    "at": "2026-06-04T16:20:01+02:00",
    "cwd": "/tmp",
    "occurrence": 0,
}


def replay(home: Path, *commands: dict[str, Any]) -> list[dict[str, Any]]:
    """What a fresh process answers to these commands."""
    done = subprocess.run(
        [sys.executable, "-m", "nextlevel.producers.replay", str(home)],
        input="".join(json.dumps(command) + "\n" for command in commands),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def events(home: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(home / "nextlevel" / "shortterm.db")) as connection:
        rows = connection.execute("SELECT event FROM events ORDER BY row").fetchall()
    connection.close()
    return [json.loads(event) for (event,) in rows]


def test_a_turn_told_twice_is_one_turn(tmp_path: Path) -> None:
    """Also by another process: a second run of the demo doubles nothing."""
    assert ["kept", "known"] == [answer["outcome"] for answer in replay(tmp_path, TURN, TURN)]
    assert ["known"] == [answer["outcome"] for answer in replay(tmp_path, TURN)]
    assert 1 == len(events(tmp_path))


def test_the_same_words_said_again_later_are_another_turn(tmp_path: Path) -> None:
    """An "ok thx" is said in many places of one session."""
    told = replay(tmp_path, TURN, {**TURN, "occurrence": 1, "at": "2026-06-04T17:00:00+02:00"})
    assert ["kept", "kept"] == [answer["outcome"] for answer in told]


def test_a_turn_keeps_its_date_its_place_and_its_tools(tmp_path: Path) -> None:
    """A "tomorrow" is relative to the day it was said, not to the day of the demo."""
    replay(tmp_path, TURN)
    (event,) = events(tmp_path)
    assert (TURN["at"], "/tmp") == (event["at"], event["meta"]["cwd"])
    (tool,) = event["tools"]
    assert ("terminal", "HTTP/1.1 200 OK") == (tool["name"], tool["result"])
    assert {"command": "curl -sI localhost:8091"} == json.loads(tool["args"])


def test_a_secret_in_a_turn_never_reaches_the_disk(tmp_path: Path) -> None:
    """The provider's redaction, seen from outside: in no file of the home."""
    replay(tmp_path, TURN)
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file() and b"Tr0pfstein" in path.read_bytes()]


def test_what_waits_is_told_and_a_prefetch_answers_without_any_service(tmp_path: Path) -> None:
    """The demo shows both; nothing is enrolled here, so what was said comes back from the local disk."""
    (waiting, none) = replay(tmp_path, {"do": "waiting"}, {"do": "prefetch", "session": "s2", "query": "api moved?"})
    assert 0 == waiting["waiting"]
    assert "8091" not in none["context"]
    _, waiting, found = replay(
        tmp_path, TURN, {"do": "waiting"}, {"do": "prefetch", "session": "s2", "query": "where has the api moved?"}
    )
    assert 1 == waiting["waiting"]
    assert ("shortterm", True) == (found["rung"], "8091" in found["context"])


def test_an_empty_turn_is_nothing(tmp_path: Path) -> None:
    """The host calls for turns without text too."""
    (answer,) = replay(tmp_path, {**TURN, "user": "", "assistant": " "})
    assert "nothing" == answer["outcome"]
