"""Which past turns answer a question? Asked of the served product: turns in and recall out, both over HTTP.

Each conversation is a person of its own (a principal), so that no question sees another's memory. What recall gives is
a past turn, or a block that stands on turns: these, in the order of recall, are the prediction.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from nextlevel import jsonl
from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client, ScopeName
from nextlevel.errors import Transient
from nextlevel.event import fingerprint
from nextlevel.inference import open_embedder
from nextlevel.ops.up import tree
from nextlevel.settings import Settings
from nextlevel.store import passages, scopes
from nextlevel.store.pool import Database

from . import ground

INSTALL = "eval"
ROLES = tuple(role for role in tree.ROLES if role.name != "relay")  # no agent lives here
PATIENCE_S = 300.0
_LOOK_EVERY_S = 0.5
_ASKED_AT_ONCE = 4
MOST = 20
"""Items of one answer: the scorer looks no further."""

Tick = Callable[[str, int, int], None]
"""Progress: what is being done, how much of it is done, and how much there is."""


class Line(BaseModel):
    """One turn of a conversation. `at` without an offset is taken as UTC."""

    conv: str
    dia_id: str
    session: int | str
    at: datetime
    speaker: str
    text: str


class Question(BaseModel):
    """`q` is the question's number in its conversation."""

    conv: str
    q: int
    question: str


class NotSettled(Transient):
    """Turns are still on their way, and nothing moves."""


async def predict(turns: Path, questions: Path, out: Path, tick: Tick) -> int:
    """Write a ranking for each question. Returns how many.

    Raises:
        UnusableFile: a file is not what it must be; said before anything is started.
        Transient: the product stopped moving or answering.
    """
    lines, asked = jsonl.read(turns, Line), jsonl.read(questions, Question)
    with ground.fresh() as settings:
        async with tree.running(settings, roles=ROLES) as endpoints:
            client = Client(endpoints.service_url, token(secret_of(settings), OPERATOR))
            told = await tell(client, lines, tick)
            await settled(client, len(told), tick)
            await indexed(settings, endpoints.postgres_dsn, tick)
            rows = await ask(client, asked, told, tick)
    jsonl.write(out, rows)
    return len(rows)


async def tell(client: Client, lines: Sequence[Line], tick: Tick) -> dict[str, str]:
    """Publish every line as a turn, in order. Returns the line's id for each turn's."""
    told: dict[str, str] = {}
    for event, dia_id in _events(lines):
        await asyncio.to_thread(client.publish, event)
        told[event["id"]] = dia_id
        tick("told", len(told), len(lines))
    return told


def _events(lines: Sequence[Line]) -> Iterator[tuple[dict[str, Any], str]]:
    ordinals: Counter[str] = Counter()
    same: Counter[tuple[str, str]] = Counter()
    for seq, line in enumerate(lines, 1):
        session, text = f"{line.conv}/{line.session}", f"{line.speaker}: {line.text}"
        ordinals[session] += 1
        at = line.at if line.at.tzinfo else line.at.replace(tzinfo=UTC)
        yield (
            {
                "v": 1,
                "id": f"{INSTALL}:{seq}",
                "fp": fingerprint(f"default\n{line.conv}", session, text, "", same[session, text]),
                "kind": "turn",
                "profile": "default",
                "principal": line.conv,
                "session": session,
                "turn": ordinals[session],
                "at": at.isoformat(),
                "lane": "backfill",
                "user_text": text,
            },
            line.dia_id,
        )
        same[session, text] += 1


async def settled(client: Client, total: int, tick: Tick) -> None:
    """Wait until every turn has come to its end.

    Raises:
        NotSettled: nothing moved for five minutes.
    """
    last, moved_at = -1, time.monotonic()
    while True:
        store = (await asyncio.to_thread(client.status))["store"]
        ended = sum(store["ended_today"].values())
        tick("remembered", ended, total)
        if ended >= total and not store["stages"]:
            return
        if ended != last:
            last, moved_at = ended, time.monotonic()
        elif time.monotonic() - moved_at > PATIENCE_S:
            waiting = ", ".join(f"{stage['waiting']} {state}" for state, stage in store["stages"].items())
            raise NotSettled(f"{ended} of {total} turns came to their end, then nothing moved ({waiting})")
        await asyncio.sleep(_LOOK_EVERY_S)


async def indexed(settings: Settings, dsn: str, tick: Tick) -> None:
    """Wait until every past turn can be found, by its words and by its vector: that comes after a turn's end.

    Raises:
        NotSettled: nothing moved for five minutes.
        EmbedderUnavailable: this machine has no embedder, so the figures would not be those of the product.
    """
    embedder = open_embedder(settings)
    await embedder.close()
    db = await Database.connect(dsn, max_size=1)
    most, last, moved_at = 0, -1, time.monotonic()
    try:
        while True:
            async with db.pipeline() as conn:
                behind = await passages.backlog(conn, embedder.model)
                waiting = behind.scopes_without_vectors + len(await scopes.without_vectors(conn, embedder.model))
            most = max(most, waiting)
            tick("indexed", most - waiting, most)
            if not behind.unindexed and not waiting:
                return
            if behind.moves != last:
                last, moved_at = behind.moves, time.monotonic()
            elif time.monotonic() - moved_at > PATIENCE_S:
                raise NotSettled(f"{behind.unindexed} turns wait for words, {waiting} conversations for vectors")
            await asyncio.sleep(_LOOK_EVERY_S)
    finally:
        await db.close()


async def ask(client: Client, asked: Sequence[Question], told: dict[str, str], tick: Tick) -> list[dict[str, Any]]:
    sources = _Sources(client, told)
    gate = asyncio.Semaphore(_ASKED_AT_ONCE)
    done = 0

    async def one(question: Question) -> dict[str, Any]:
        nonlocal done
        async with gate:
            row = await asyncio.to_thread(_answer, client, sources, question)
        done += 1
        tick("asked", done, len(asked))
        return row

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(question)) for question in asked]
    return [task.result() for task in tasks]


def _answer(client: Client, sources: _Sources, question: Question) -> dict[str, Any]:
    scope = ScopeName(install=INSTALL, principal=question.conv)
    found = client.recall(question.question, scope, mode="search", k=MOST)
    ranked = [dia for item in found.items for dia in sources.of(item, scope)]
    return {
        "conv": question.conv,
        "q": question.q,
        "ranked": list(dict.fromkeys(ranked)),
        "abstain": found.abstained,
    }


class _Sources:
    """The lines that an item of recall stands on. Each block is asked for once."""

    def __init__(self, client: Client, told: dict[str, str]) -> None:
        self._client, self._told = client, told
        self._known: dict[str, list[str]] = {}

    def of(self, item: dict[str, Any], scope: ScopeName) -> list[str]:
        if item["block"] is None:
            return [self._told[item["passage"]["turn"]]]
        block: str = item["block"]["id"]
        if block not in self._known:
            for past in self._client.history(block, scope):
                self._known[past["block"]["id"]] = [self._told[source["turn_id"]] for source in past["sources"]]
        return self._known[block]
