"""Are the injected lines the right ones, and is nothing injected where nothing is known?

The demo's month is told by the real plugin and remembered by the real pipeline, and 10,000 blocks about other things
are put beside it. Then 150 questions (precision.jsonl) are asked as prefetch asks them; a third has no answer there.
A line is right if it holds one of the words that its question names: they were written from the month, not from what
is remembered of it. Nobody is in a hurry here: how fast recall is, bench.prefetch tells.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.errors import Transient
from nextlevel.inference import open_embedder
from nextlevel.ops.demo.agent import install_plugin, started
from nextlevel.ops.demo.month import lines, sessions
from nextlevel.ops.demo.play import Ground, settle
from nextlevel.producers.hermes.config import load as config_of
from nextlevel.settings import Endpoints, Settings
from nextlevel.store import scopes
from nextlevel.store.pool import Database

from . import ground
from .common import Report, arguments, run, table
from .scopes import fill_scopes

QUESTIONS = Path(__file__).with_suffix(".jsonl")
BESIDE = 10_000
CENTRES, NOISE = 256, 0.05
HOT_WITHIN_S, ASK_WITHIN_MS = 120.0, 5_000
POLL_S = 0.1
SHOWN = 12  # of the worst


class NotReady(Transient):
    """The scope is not held by the service."""


@dataclass(frozen=True, slots=True)
class Question:
    """`right` are the words of which a right line holds one; none where nothing is known."""

    query: str
    right: tuple[str, ...]

    def is_right(self, line: str) -> bool:
        return any(word.casefold() in line.casefold() for word in self.right)


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the lines that were injected for it."""

    question: Question
    lines: tuple[str, ...]

    @property
    def right(self) -> int:
        return sum(self.question.is_right(line) for line in self.lines)


def questions() -> list[Question]:
    rows = map(json.loads, QUESTIONS.read_text("utf-8").splitlines())
    return [Question(row["query"], tuple(row["right"])) for row in rows]


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    asked = questions()[::10] if options.quick else questions()
    with ground.directory() as root:
        async with ground.running(root, report) as (settings, endpoints):
            client = Client(endpoints.service_url, token(secret_of(settings), OPERATOR))
            scope = await _remember(root, client, report)
            await _distract(settings, endpoints, scope, 200 if options.quick else options.beside, report, options.seed)
            judged = await _ask(client, scope, asked, report)
    return _figures(judged, report)


async def _remember(root: Path, client: Client, report: Report) -> ScopeName:
    """Tell the month, session by session."""
    place, month = Ground(root), lines()
    place.home.mkdir()
    os.environ["NEXTLEVEL_DATA_DIR"] = str(place.data)  # for the command that installs the plugin
    os.environ["NEXTLEVEL_SERVE_PORT"] = client.url.rpartition(":")[2]
    await install_plugin(place.home)
    async with started(place.home, root / "agent.log") as agent:
        for name in sessions(month):
            for line in (each for each in month if each.session == name):
                await agent.tell(line, place.project(line.cwd))
            await settle(agent, client, place.logs)
        report.say(f"{len(month)} turns told and remembered")
    return ScopeName(install=config_of(place.home).install)


async def _distract(
    settings: Settings, endpoints: Endpoints, scope: ScopeName, blocks: int, report: Report, seed: int
) -> None:
    embedder = open_embedder(settings)
    db = await Database.connect(endpoints.postgres_dsn)
    try:
        async with db.pipeline() as conn:
            found = await scopes.resolve(
                conn, scope.install, profile=scope.profile, principal=scope.principal, accept_unenrolled=False
            )
        dsn, wanted = endpoints.postgres_admin_dsn or "", [(found, blocks)]
        # Nearly without noise: evidence is how far a cosine stands above the mean, so both must be real sentences'.
        await fill_scopes(dsn, embedder, wanted, seed=seed, centres=CENTRES, noise=NOISE)
    finally:
        await db.close()
        await embedder.close()
    report.say(f"{blocks} blocks about other things put beside it")


async def _ask(client: Client, scope: ScopeName, asked: Sequence[Question], report: Report) -> list[Judged]:
    ask = partial(client.recall, scope=scope, mode="prefetch", deadline_ms=ASK_WITHIN_MS)
    ends = time.monotonic() + HOT_WITHIN_S
    while (await asyncio.to_thread(ask, "is everything there?")).rung == "sql":
        if time.monotonic() > ends:
            raise NotReady(f"the scope is not hot after {HOT_WITHIN_S:.0f} s")
        await asyncio.sleep(POLL_S)
    judged = []
    for question in asked:
        found = await asyncio.to_thread(ask, question.query)
        judged.append(Judged(question, tuple(item["text"] for item in found.items)))
    report.say(f"{len(judged)} questions asked")
    return judged


def _figures(judged: Sequence[Judged], report: Report) -> dict[str, Any]:
    known = [each for each in judged if each.question.right]
    unknown = [each for each in judged if not each.question.right]
    injected = sum(len(each.lines) for each in judged)
    figures = {
        "questions": len(judged),
        "lines": injected,
        "lines a question": round(injected / len(judged), 2),
        "precision": sum(each.right for each in judged) / max(injected, 1),
        "answered": sum(each.right > 0 for each in known) / max(len(known), 1),
        "first line right": sum(bool(each.lines) and each.question.is_right(each.lines[0]) for each in known)
        / max(len(known), 1),
        "injected for nothing": sum(bool(each.lines) for each in unknown) / max(len(unknown), 1),
    }
    table("precision", ("", ""), [[name, f"{value:.3g}"] for name, value in figures.items()])
    _show("not answered", [each for each in known if not each.right])
    _show("wrong lines", [each for each in judged if each.right < len(each.lines)])
    report.goal("precision of injected lines", figures["precision"], least=0.95)
    report.goal("answerable questions that are answered", figures["answered"], least=0.90)
    report.goal("questions without an answer that get lines", figures["injected for nothing"], most=0.03)
    return figures


def _show(title: str, found: Sequence[Judged]) -> None:
    print(f"\n{title}: {len(found)} questions", file=sys.stderr)
    for each in found[:SHOWN]:
        wrong = [line for line in each.lines if not each.question.is_right(line)]
        print(f"  {each.question.query}", *(f"      {line[:150]}" for line in wrong[:3]), sep="\n", file=sys.stderr)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--beside", type=int, default=BESIDE, help="blocks about other things in the same scope")
    sys.exit(run("precision", bench, parser))
