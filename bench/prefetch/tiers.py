"""What single tiers take by themselves: tier 2 on the agent's disk, tier 3 with the query's vector at hand."""

from __future__ import annotations

import asyncio
import random
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nextlevel.auth import secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.ops.up import place
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.provider import Provider
from nextlevel.producers.shortterm.search import Reader, search
from nextlevel.settings import Endpoints, Settings

from ..common import TIMES, Report, Times, table
from ..talk import Talk
from .effort import Effort
from .scene import Scene

LINES = 5


def short_term(root: Path, effort: Effort, talk: Talk, report: Report) -> dict[str, Any]:
    """Search in tier 2 for what was said there, filled by the plugin as if nobody took its turns; and its size."""
    report.say(f"tier 2: {effort.sessions} sessions of {effort.turns} turns")
    folder = root / "home-tier2"
    folder.mkdir()
    provider = Provider()
    provider.initialize("bench", hermes_home=str(folder), platform="cli")
    told: list[str] = []
    for session in range(effort.sessions):
        for _ in range(effort.turns):
            said = talk.turn()
            provider.sync_turn(said.user, said.assistant, session_id=f"session-{session}")
            told.append(said.user)
    provider.shutdown()
    database = homes.of(folder).database
    taken = []
    found = 0
    for _ in range(effort.rounds):
        query = random.choice(told)  # noqa: S311
        since = time.perf_counter()
        found += bool(search(database, query, LINES, reader=Reader()))
        taken.append(1000 * (time.perf_counter() - since))
    times, mb = Times(taken), _megabytes(folder)
    title = f"tier 2, {effort.sessions} sessions, {effort.sessions * effort.turns} turns: {mb:.1f} MB"
    table(f"{title}; ms", ("", *TIMES, "found"), [["search", *times.row(), f"{100 * found / effort.rounds:.0f} %"]])
    return {"sessions": effort.sessions, "mb": mb, "search": times.figures()}


def disk_use(settings: Settings, blocks: int) -> dict[str, Any]:
    """What the stores take on the disk while they hold so many blocks and nothing else."""
    return {"mb": _megabytes(place.find(settings.data_dir).home), "blocks": blocks}


async def long_term(settings: Settings, endpoints: Endpoints, scene: Scene, install: str, cold: str) -> dict[str, Any]:
    """Search in tier 3 with the query's vector at hand.

    Where the service holds the scope; as of a moment, which Postgres answers, though blocks that are held are not read
    again; and the same of a `cold` scope, of which nothing is held.
    """
    taken: dict[str, list[float]] = {"held by the service": [], "by Postgres": [], "by Postgres, nothing held": []}
    clients = {each: Client(endpoints.service_url, token(secret_of(settings), each)) for each in (install, cold)}
    for _ in range(scene.effort.rounds):
        query, now = scene.question(), datetime.now(UTC).isoformat()
        await _ask(clients[install], query, install)  # makes the vector, which the service keeps
        for name, asked, as_of in zip(taken, (install, install, cold), (None, now, now), strict=True):
            since = time.perf_counter()
            await _ask(clients[asked], query, asked, as_of)
            taken[name].append(1000 * (time.perf_counter() - since))
    times = {name: Times(found) for name, found in taken.items()}
    rows = [[name, *found.row()] for name, found in times.items()]
    table(f"tier 3, {install}, without the query's embedding, ms", ("", *TIMES), rows)
    return {name: found.figures() for name, found in times.items()}


async def _ask(client: Client, query: str, install: str, as_of: str | None = None) -> None:
    await asyncio.to_thread(client.recall, query, ScopeName(install=install), as_of=as_of)


def _megabytes(folder: Path) -> float:
    done = subprocess.run(["du", "-sk", folder], capture_output=True, text=True, check=True)
    return round(int(done.stdout.split()[0]) * 1024 / 1e6, 1)
