"""The other memories that a prefetch is measured beside, each holding the blocks of one of our scopes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import numpy as np

from nextlevel.model import block_text
from nextlevel.settings import Endpoints

from .. import ground
from ..agents import Process, process
from ..common import Report

PYTHONS = {"holographic": Path(".hermes/bin/python"), "hexus": Path(".peers/bin/python")}
FILLED_WITHIN_S = 300.0

_BLOCKS = """
SELECT subject, predicate, object, emb::real[] AS vector
  FROM blocks JOIN embeddings USING (block_id)
 WHERE blocks.user_id = (SELECT user_id FROM installations WHERE install = $1)
"""


class Peer(Process):
    """Somebody else's memory provider. Counted are the questions that it had lines for, and those it had none for."""

    answered = silent = 0

    async def prefetch(self, query: str) -> tuple[float, float]:
        """What it took in ms, and how much of that was the query's embedding."""
        answer = await self.ask("prefetch", query=query)
        if answer["chars"]:
            self.answered += 1
        else:
            self.silent += 1
        return answer["ms"], answer["embedding_ms"]


@asynccontextmanager
async def running(root: Path, endpoints: Endpoints, install: str, report: Report) -> AsyncIterator[dict[str, Peer]]:
    """Those that are installed here, filled with the blocks of an installation's user."""
    found: dict[str, Peer] = {}
    async with AsyncExitStack() as stack:
        for name, python in PYTHONS.items():
            if not python.exists():
                report.say(f"{name} is left out: there is no {python}; make bench-prefetch installs it")
                continue
            home = root / f"home-{name}"
            home.mkdir()
            await _export(home, endpoints, install)
            dsn = await ground.database(endpoints, name) if name == "hexus" else ""
            argv = (python, "-m", "bench.peers.prefetch", name, home, dsn)
            peer = Peer(await stack.enter_async_context(process(argv)))
            facts = (await peer.ask("fill", within_s=FILLED_WITHIN_S))["facts"]
            report.say(f"{name} holds {facts} facts")
            found[name] = peer
        yield found


async def _export(folder: Path, endpoints: Endpoints, install: str) -> None:
    """Write an installation's blocks as texts and vectors."""
    admin = await asyncpg.connect(endpoints.postgres_admin_dsn)
    try:
        rows = await admin.fetch(_BLOCKS, install)
    finally:
        await admin.close()
    texts = {block_text(row["subject"], row["predicate"], row["object"], negated=False): row["vector"] for row in rows}
    (folder / "facts.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
    np.save(folder / "facts.npy", np.array(list(texts.values()), dtype=np.float32))
