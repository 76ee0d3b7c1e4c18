"""What a person is told about one home: versions, what waits, what was delivered, the last error, who answers."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from nextlevel.errors import NextLevelError
from nextlevel.producers.shortterm import outbox

from . import VERSION
from .config import load
from .home import Home

_ASK_S = 1.0


def lines(path: Path) -> list[str]:
    """The report, a fact a line. Needs no backend, and says of each whether it answers."""
    path = path.resolve()
    told: dict[str, Any] = {"plugin": VERSION, "home": path}
    found = facts(path)
    if "fault" in found and "installation" not in found:
        return [*_table(told), f"configuration  {found['fault']}"]
    home = Home(path)
    told |= {"installation": found["installation"], "recall mode": home.config.recall_mode}
    if home.config.copied(path):
        told["copied from"] = f"{home.config.home} (this home delivers under an id of its own)"
    told |= _outbox(found)
    told["memory service"] = _service(home)
    told["redis"] = _redis(home)
    return _table(told)


def facts(path: Path) -> dict[str, Any]:
    """What a home says of itself, for a program; nobody is asked. `fault`: what is wrong with it, with the cure."""
    path = path.resolve()
    told: dict[str, Any] = {"home": str(path)}
    try:
        told["installation"] = load(path).install
        home = Home(path)
        if home.has_database:
            told |= outbox.counts(home.database)
            told["last_error"] = outbox.noted(home.database, "last_error")
    except (ValueError, NextLevelError) as error:
        told["fault"] = str(error)
    return told


def _outbox(found: dict[str, Any]) -> dict[str, Any]:
    if "fault" in found:
        return {"turns": found["fault"]}
    if "events" not in found:
        return {"turns": "none yet"}
    return {
        "delivery id": found["install"],
        "events": f"{found['events']} ({found['sessions']} sessions held)",
        "acknowledged": found["acknowledged"],
        "on their way": found["published"],
        "waiting": found["pending"],
        "oldest waiting": _moment(found["oldest_waiting_at"]),
        "last turn": _moment(found["last_turn_at"]),
        "last error": found["last_error"] or "none",
    }


def _service(home: Home) -> str:
    if home.service is None:
        return "not configured"
    try:
        answer = home.service.request("GET", "/readyz", token=home.config.token, timeout_s=_ASK_S)
    except NextLevelError as error:
        return f"{home.config.service_url}: {error}"
    return f"{home.config.service_url}: {'ready' if answer.ok else answer.reason}"


def _redis(home: Home) -> str:
    if home.redis is None:
        return "not configured; the relay of this machine delivers"
    try:
        home.redis.call("PING", timeout_s=_ASK_S)
    except NextLevelError as error:
        return str(error)
    return "answers"


def _moment(seconds: float | None) -> str:
    return "none" if seconds is None else datetime.fromtimestamp(seconds).astimezone().isoformat(" ", "seconds")


def _table(told: dict[str, Any]) -> list[str]:
    width = max(len(name) for name in told)
    return [f"{name:<{width}}  {value}" for name, value in told.items()]
