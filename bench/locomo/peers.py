"""`python -m bench.locomo.peers`: what three other memories rank for LoCoMo's questions, kept for bench.locomo.

Each runs in .peers, an environment of its own (`make bench-locomo-peers` makes it), on an empty Postgres with pgvector,
by its own search and defaults; bench/peers/ranking.py says what it can't have here. All get the vectors of the packaged
embedder. Only ids are kept, in rankings/, under the peer's name and version.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from nextlevel.errors import UnusableFile
from nextlevel.inference import open_embedder
from nextlevel.ops.evaluate import locomo
from nextlevel.settings import Settings

from .. import ground
from ..common import TIMES, Report, Times, arguments, run, table
from ..vectors import CachedEmbedder, directory
from . import data
from .baselines import Ranking, vectors
from .judge import Judge, show

PYTHON = Path(".peers/bin/python")
RANKINGS = Path(__file__).with_name("rankings")
PEERS = ("engram-search-0.1.7", "hexus-0.9.2", "mem0ai-2.2.1")


def rankings() -> dict[str, Ranking]:
    """What each peer ranked.

    Raises:
        UnusableFile: a ranking is missing.
    """
    found = {}
    for peer in PEERS:
        file = RANKINGS / f"{peer}.jsonl"
        if not file.is_file():
            raise UnusableFile(f"{file} is missing: run make bench-locomo-peers")
        found[peer] = _read(file)
    return found


def _read(file: Path) -> Ranking:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return {(row["conv"], row["q"]): row["ranked"] for row in rows}


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    times, found = {}, {}
    with ground.directory() as root:
        asked = await _prepare(root, report, quick=options.quick)
        async with ground.running(root, report, ()) as (_, endpoints):
            for peer in PEERS:
                report.say(f"{peer} writes and searches")
                name = peer.rpartition("-")[0]
                times[peer] = await _rank(name, root, await ground.database(endpoints, name.replace("-", "_")))
                found[peer] = _read(root / "ranking.jsonl")
                if not options.quick:
                    shutil.copy(root / "ranking.jsonl", RANKINGS / f"{peer}.jsonl")
    table(
        "each peer's own write of a turn and search, ms, the embedding left out",
        ("", *TIMES),
        [[f"{peer}, {what}", *each.row()] for peer, kinds in times.items() for what, each in kinds.items()],
    )
    judge = Judge(found[PEERS[0]])
    reports = {peer: judge.score(ranking) for peer, ranking in found.items()}
    show("peers, all conversations", reports)
    for peer, ranking in found.items():
        report.goal(f"questions that {peer} ranked turns for", len(ranking), least=asked)
    return {
        peer: {**reports[peer]["overall"], **{what: each.figures() for what, each in times[peer].items()}}
        for peer in PEERS
    }


async def _prepare(root: Path, report: Report, *, quick: bool) -> int:
    """Put turns, questions and their vectors where the peers read them; how many questions there are."""
    lines, questions = data.read(root, quick=quick)
    embedder = CachedEmbedder(open_embedder(Settings()), directory())
    try:
        np.save(root / "turns.npy", await vectors(lines, embedder))
        np.save(root / "questions.npy", np.stack([await embedder.query(each.question) for each in questions]))
        report.say(f"{len(lines)} turns and {len(questions)} questions; {embedder.made} vectors had to be made")
    finally:
        await embedder.close()
    return len(questions)


async def _rank(name: str, root: Path, dsn: str) -> dict[str, Times]:
    process = await asyncio.create_subprocess_exec(
        *(PYTHON, "-m", "bench.peers.ranking", name, root, dsn), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    if process.returncode != 0:
        raise UnusableFile(f"{name} ended with {process.returncode}; what it said is above")
    found = json.loads(told.splitlines()[-1])
    return {"write": Times(found["writes_ms"]), "search": Times(found["searches_ms"])}


def main() -> int:
    try:
        locomo.directory()
    except UnusableFile as error:
        print(f"bench-locomo-peers: {error}", file=sys.stderr)
        return 2
    return run("locomo-peers", bench, arguments(__doc__))


if __name__ == "__main__":
    sys.exit(main())
