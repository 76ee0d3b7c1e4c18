"""`python -m bench.locomo`"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.cache import Cache
from nextlevel.client import Client
from nextlevel.errors import UnusableFile
from nextlevel.inference import open_embedder
from nextlevel.ops.evaluate import locomo, retrieval
from nextlevel.ops.evaluate.retrieval import Question
from nextlevel.ops.up import tree
from nextlevel.recall import Mode, Recall, Request
from nextlevel.settings import Settings
from nextlevel.store.pool import Database
from nextlevel.workers.worker import opened, work

from .. import ground
from ..common import Report, arguments, run
from ..vectors import CachedEmbedder, directory
from . import __doc__ as about
from . import data, languages, peers
from .baselines import Ranking, baselines
from .judge import SERVED, WORDS_ONLY, Row, judge

SERVE = tuple(role for role in tree.ROLES if role.name == "serve")


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    by_peers = peers.rankings()
    with ground.directory() as root_dir:
        lines, questions = data.read(root_dir, quick=options.quick)
        facts = languages.facts()
        running = ground.running(root_dir, report, SERVE)
        async with running as (settings, endpoints), _worker(settings) as embedder:
            client = Client(endpoints.service_url, token(secret_of(settings), OPERATOR), timeout_s=60)
            told = await retrieval.tell(client, lines + [line for line, _ in facts], _tick(report))
            await retrieval.settled(client, len(told), _tick(report))
            await retrieval.indexed(settings, endpoints.postgres_dsn, _tick(report))
            report.say(f"{len(told)} turns are in memory; {embedder.made} vectors had to be made")
            served = await retrieval.ask(client, questions, told, _tick(report))
            spoken = await retrieval.ask(client, [question for _, question in facts], told, _tick(report))
            words_only = await _without_vectors(settings, questions, told)
            report.say("asked without vectors; now the baselines")
            systems = {SERVED: _by_key(served), WORDS_ONLY: words_only}
            systems |= await baselines(lines, questions, embedder)
            systems |= by_peers
            by_language = await languages.by_language(facts, _by_key(spoken), embedder)
    return judge(systems, _abstained(served), by_language, report)


@asynccontextmanager
async def _worker(settings: Settings) -> AsyncIterator[CachedEmbedder]:
    """The worker as it runs everywhere, in this process, so that the vectors of an earlier run serve again."""
    embedder = CachedEmbedder(open_embedder(settings), directory())
    async with opened(settings, embeds=False) as (ctx, wakers):
        working = asyncio.create_task(work(replace(ctx, embedder=embedder), wakers))
        try:
            yield embedder
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
    await embedder.close()


def _tick(report: Report) -> retrieval.Tick:
    said: Counter[str] = Counter()

    def tick(what: str, done: int, total: int) -> None:
        if done >= said[what] + max(total // 4, 1) or (done >= total and said[what] < total):
            said[what] = done
            report.say(f"{what}: {done} of {total}")

    return tick


async def _without_vectors(settings: Settings, questions: Sequence[Question], told: dict[str, str]) -> Ranking:
    """The same recall with no embedder: what is answered where the model is down."""
    db, cache = await Database.connect(settings.need_postgres()), Cache(None)
    recall = Recall(settings, db, cache, None)
    found: Ranking = {}
    try:
        for each in questions:
            request = Request(each.question, retrieval.INSTALL, "default", each.conv, Mode.SEARCH, 2_000, None)
            answer = await recall.answer(request)
            turns = [told[item.passage.turn] for item in answer.items if item.passage is not None]
            found[each.conv, each.q] = list(dict.fromkeys(turns))
    finally:
        await recall.close()
        await cache.close()
        await db.close()
    return found


def _by_key(rows: Sequence[Row]) -> Ranking:
    return {(row["conv"], row["q"]): row["ranked"] for row in rows}


def _abstained(rows: Sequence[Row]) -> dict[tuple[str, int], bool]:
    return {(row["conv"], row["q"]): row["abstain"] for row in rows}


def main() -> int:
    try:
        locomo.directory()
    except UnusableFile as error:
        print(f"bench-locomo: {error}", file=sys.stderr)
        return 2
    return run("locomo", bench, arguments(about))


if __name__ == "__main__":
    sys.exit(main())
