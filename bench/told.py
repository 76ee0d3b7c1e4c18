"""A memory as it comes about: a month told by the real plugin, remembered by the real pipeline, and much beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.errors import Transient
from nextlevel.inference import Embedder
from nextlevel.ops.demo.agent import started
from nextlevel.ops.demo.month import Line, sessions
from nextlevel.ops.demo.play import Ground, settle
from nextlevel.producers import homes
from nextlevel.settings import Endpoints, Settings
from nextlevel.store import scopes
from nextlevel.store.pool import Database

from . import ground
from .common import Report
from .scopes import fill_scopes

CENTRES, NOISE = 256, 0.05
HOT_WITHIN_S, ASK_WITHIN_MS = 120.0, 5_000
POLL_S = 0.1


class NotReady(Transient):
    """The scope is not held by the service."""


@dataclass(frozen=True, slots=True)
class Place:
    """A running service, and where its data lie."""

    root: Path
    settings: Settings
    endpoints: Endpoints

    @property
    def client(self) -> Client:
        return Client(self.endpoints.service_url, token(secret_of(self.settings), OPERATOR))


async def tell(place: Place, name: str, month: Sequence[Line], report: Report) -> ScopeName:
    """Tell a month, session by session, as a person of this name."""
    here = Ground(place.root)
    home = ground.home(
        place.root,
        name,
        settings=place.settings,
        service_url=place.endpoints.service_url,
        redis_url=place.endpoints.redis_url,
    )
    place.client.enrol(name, user=name)
    homes.register_home(place.settings, home)  # the relay tells the plugin what Postgres holds
    async with started(home, place.root / f"{name}.log") as agent:
        for session in sessions(month):
            for line in (each for each in month if each.session == session):
                await agent.tell(line, here.project(line.cwd))
            await settle(agent, place.client, here.logs)
    report.say(f"{name}: {len(month)} turns told and remembered")
    return ScopeName(install=name)


async def distract(
    place: Place, names: Sequence[ScopeName], blocks: int, embedder: Embedder, report: Report, *, seed: int
) -> None:
    """Put blocks about other things beside what was told."""
    db = await Database.connect(place.endpoints.postgres_dsn)
    try:
        async with db.pipeline() as conn:
            found = [
                await scopes.resolve(
                    conn, name.install, profile=name.profile, principal=name.principal, accept_unenrolled=False
                )
                for name in names
            ]
    finally:
        await db.close()
    dsn, wanted = place.endpoints.postgres_admin_dsn or "", [(each, blocks) for each in found]
    # Nearly without noise: evidence is how far a cosine stands above the mean, so both must be real sentences'.
    await fill_scopes(dsn, embedder, wanted, seed=seed, centres=CENTRES, noise=NOISE)
    report.say(f"{blocks} blocks about other things put beside each")


async def until_hot(client: Client, name: ScopeName) -> None:
    """Wait until the service holds a scope.

    Raises:
        NotReady: it does not after two minutes.
    """
    ends = time.monotonic() + HOT_WITHIN_S
    ask = partial(client.recall, "is everything there?", name, mode="prefetch", deadline_ms=ASK_WITHIN_MS)
    while (await asyncio.to_thread(ask)).rung == "sql":
        if time.monotonic() > ends:
            raise NotReady(f"the scope of {name.install} is not hot after {HOT_WITHIN_S:.0f} s")
        await asyncio.sleep(POLL_S)
