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
    home = Home(path)
    told: dict[str, Any] = {"plugin": VERSION, "home": path}
    try:
        config = load(path)
    except ValueError as error:
        return [*_table(told), f"configuration  {error}"]
    told |= {"installation": config.install, "recall mode": config.recall_mode}
    if config.copied(path):
        told["copied from"] = f"{config.home} (this home delivers under an id of its own)"
    told |= _outbox(home)
    told["memory service"] = _service(home)
    told["redis"] = _redis(home)
    return _table(told)


def _outbox(home: Home) -> dict[str, Any]:
    if not home.has_database:
        return {"turns": "none yet"}
    try:
        counts = outbox.counts(home.database)
        error = outbox.noted(home.database, "last_error")
    except NextLevelError as trouble:
        return {"turns": trouble}
    return {
        "delivery id": counts["install"],
        "events": f"{counts['events']} ({counts['sessions']} sessions held)",
        "acknowledged": counts["acknowledged"],
        "on their way": counts["published"],
        "waiting": counts["pending"],
        "oldest waiting": _moment(counts["oldest_waiting_at"]),
        "last turn": _moment(counts["last_turn_at"]),
        "last error": error or "none",
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
