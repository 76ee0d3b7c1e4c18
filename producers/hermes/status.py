"""What a person is told about one home: versions, what waits, what was delivered, the last error, who answers."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import Any

from nextlevel.errors import NextLevelError
from nextlevel.producers.shortterm import outbox, refill
from nextlevel.producers.shortterm.database import path_of

from . import VERSION
from .config import hosts_memory_setting, hosts_recall_mode, load, save
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
    told |= {"installation": found["installation"], "recall mode": _mode(home)}
    if home.config.paused:
        told["paused"] = "nothing is remembered until `hermes nextlevel resume`"
    excluded = ", ".join(filter(None, (home.config.exclude_folders, home.config.exclude_platforms)))
    if excluded:
        told["excluded"] = excluded
    if home.config.copied(path):
        told["copied from"] = f"{home.config.home} (this home delivers under an id of its own)"
    told |= _outbox(found)
    if found.get("moved_aside"):
        told["moved aside"] = found["moved_aside"]
        told["refilled"] = found["refilled"]
    for bare in found.get("without_plugin", []):
        told[f"profile {Path(bare).name}"] = f"has no plugin, so no memory: `nextlevel hermes install --home {bare}`"
    told["memory service"] = _service(home)
    told["redis"] = _redis(home)
    return _table(told)


def _mode(home: Home) -> str:
    """The mode in force, and whose word it is: ours counts, and install copies the host's into it."""
    ours, hosts = home.config.recall_mode, hosts_recall_mode(home.path)
    if hosts is None:
        return f"{ours} (by nextlevel/config.json; config.yaml names none)"
    if hosts == ours:
        return f"{ours} (as memory.recall_mode in config.yaml)"
    return f"{ours} (by nextlevel/config.json; config.yaml says {hosts}: `hermes memory setup nextlevel` takes it over)"


def facts(path: Path) -> dict[str, Any]:
    """What a home says of itself, for a program; nobody is asked. `fault`: what is wrong with it, with the cure."""
    path = path.resolve()
    told: dict[str, Any] = {"home": str(path)}
    if bare := without_plugin(path):
        told["without_plugin"] = [str(each) for each in bare]
    try:
        told["installation"] = load(path).install
        home = Home(path)
        if home.has_database:
            told |= outbox.counts(home.database)
            told["last_error"] = outbox.noted(home.database, "last_error")
            if any(path_of(path).parent.glob(f"{path_of(path).name}.damaged-*")):  # until a person has taken them away
                told["moved_aside"] = outbox.noted(home.database, "moved_aside")
                told["refilled"] = refill.told(home.database) or "nothing was asked of the memory service"
    except (ValueError, NextLevelError) as error:
        told["fault"] = str(error)
    return told


def profiles(path: Path) -> list[Path]:
    """The homes of the agent's profiles, whichever of them `path` is; without the default one."""
    root = path.parent.parent if path.parent.name == "profiles" else path
    return sorted(each.parent for each in (root / "profiles").glob("*/config.yaml"))


def without_plugin(path: Path) -> list[Path]:
    """Profiles that name us in config.yaml and have no plugin: the host clones the one without the other.

    They have no memory, and the host says so nowhere.
    """
    return [
        each
        for each in profiles(path)
        if hosts_memory_setting(each, "provider") == "nextlevel" and not (each / "plugins" / "nextlevel").exists()
    ]


def pause(path: Path, paused: bool) -> str:
    """Stop remembering in a home, or begin again; what was done, for a person. An agent that runs sees it at once."""
    save(path, load(path).with_pause(paused, time.time()))
    if paused:
        return "nextlevel remembers nothing of what is said from now on; `hermes nextlevel resume` ends that"
    return "nextlevel remembers again what is said from now on"


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
