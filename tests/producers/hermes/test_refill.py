"""A damaged tier 2, with the real service: what Postgres holds of it is found again by the offline rung."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from fastapi import FastAPI

from nextlevel import receipts
from nextlevel.auth import token
from nextlevel.errors import ServiceUnreachable, ShortTermUnavailable
from nextlevel.event import check
from nextlevel.producers.hermes import refill, status
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.hermes.provider import Provider
from nextlevel.producers.shortterm import delivery
from nextlevel.producers.shortterm.outbox import noted
from nextlevel.producers.shortterm.search import Reader, search
from nextlevel.store import turns
from tests.api.conftest import SECRET, app, nele
from tests.producers.hermes.conftest import Enrol
from tests.support.damage import destroy, has_dbstat
from tests.support.memory import Memory
from tests.support.ports import free_port
from tests.support.serving import on_a_socket
from tests.support.stores import TestValkey

__all__ = ["app", "nele"]

Agent = Callable[..., Provider]
TURNS = 60
ENROLLED = {"install": "nele", "token": token(SECRET.encode(), "nele")}


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    async with on_a_socket(app) as address:
        yield address


def events(home: Home) -> list[dict[str, Any]]:
    with home.database.reading() as connection:
        rows = connection.execute("SELECT event FROM outbox JOIN events USING (row) ORDER BY row").fetchall()
    return [json.loads(row["event"]) for row in rows]


def words_of(home: Home) -> set[str]:
    return {event["user_text"].split()[0] for event in events(home)}


def found(home: Home, word: str) -> list[str]:
    return [turn.user_text.split()[0] for turn in search(home.database, word, 5, reader=Reader("default", "local"))]


async def say(home: Home, agent: Agent, *texts: str) -> None:
    """Turns as the host brings them, until nothing happens in the background any more."""

    def talk() -> None:
        provider = agent(home)
        for text in texts:
            provider.sync_turn(text, "Noted.", session_id="s1")
        home.finish(30)

    await asyncio.to_thread(talk)


async def acknowledged(home: Home, nele: Memory) -> None:
    """All that was said is in Postgres, and tier 2 knows it."""
    async with nele.db.pipeline() as conn:
        for event in events(home):
            await turns.receive(conn, check(event), nele.scope)
    with home.database.transaction() as connection:
        connection.execute("UPDATE outbox SET state = 'acked'")


async def told(enrol: Enrol, agent: Agent, nele: Memory) -> tuple[Home, list[str]]:
    home = enrol(**ENROLLED)
    words = [f"birch{number}" for number in range(TURNS)]
    await say(home, agent, *(f"{word} {os.urandom(400).hex()}" for word in words))
    await acknowledged(home, nele)
    return home, words


@pytest.mark.skipif(not has_dbstat(), reason="this SQLite can't tell where a table's pages are")
@pytest.mark.parametrize("table", ["events", "outbox"])
async def test_what_the_damaged_pages_held_comes_back_without_what_was_forgotten(
    enrol: Enrol, agent: Agent, nele: Memory, url: str, table: str
) -> None:
    """Each turn once, and not again at a second look."""
    home, words = await told(enrol, agent, nele)
    destroy(home.database, table)
    with pytest.raises(ShortTermUnavailable, match="it is damaged"):
        events(home)
    await say(home, agent, "afterwards")
    lost = sorted(set(words) - words_of(home))
    assert len(lost) > 1
    forgotten, back = lost[0], lost[1:]
    async with nele.db.pipeline() as conn:
        await conn.execute("UPDATE turns SET hidden = true WHERE user_text LIKE $1", f"{forgotten} %")
    await say(enrol(**ENROLLED, service_url=url), agent, "and on")
    assert [[word] for word in back] == [found(home, word) for word in back]
    assert [] == found(home, forgotten)
    after = events(home)
    assert len(after) == len({event["id"] for event in after}) == len({event["fp"] for event in after})
    assert {*words, "afterwards", "and"} - {forgotten} <= words_of(home)
    came = f"{len(back)} turns that it lacked came back from the memory service"
    assert any(line.startswith("refilled") and line.endswith(came) for line in status.lines(home.path))
    noted_then = noted(home.database, "refill")
    await say(home, agent)
    assert (after, noted_then) == (events(home), noted(home.database, "refill"))


async def test_a_lost_file_is_refilled_once_the_service_is_back(
    enrol: Enrol, agent: Agent, nele: Memory, url: str
) -> None:
    """While it is away the chat goes on, and the failure is told."""
    home, words = await told(enrol, agent, nele)
    home.database.close()
    home.database.path.write_bytes(b"no database any more" * 500)
    await say(enrol(**ENROLLED, service_url=f"http://127.0.0.1:{free_port()}"), agent, "whatever")
    assert {"whatever"} == words_of(home)
    assert "refill: the service does not answer" in str(noted(home.database, "last_error"))
    assert "the rest is asked for as soon as that answers" in status.facts(home.path)["refilled"]
    await say(enrol(**ENROLLED, service_url=url), agent, "it is back")
    assert {*words, "whatever", "it"} == words_of(home)
    assert ["birch7"] == found(home, "birch7")


async def test_one_that_breaks_off_goes_on_where_it_was(
    enrol: Enrol, agent: Agent, nele: Memory, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, words = await told(enrol, agent, nele)
    home.database.close()
    home.database.path.write_bytes(b"no database any more" * 500)
    asked, ask = list[str | None](), refill._ask

    def breaks_off(config: Any, due: Any) -> Any:
        asked.append(due.after)
        if len(asked) == 2:
            raise ServiceUnreachable("it went away")
        return ask(config, due)

    monkeypatch.setattr(refill, "_ask", breaks_off)
    await say(enrol(**ENROLLED, service_url=url), agent, "whatever")
    assert 1 + refill._PAGE == len(events(home))
    await say(home, agent, "go on")
    assert {*words, "whatever", "go"} == words_of(home)
    assert TURNS + 2 == len(events(home))
    assert (3, None, asked[1]) == (len(asked), asked[0], asked[2])


async def test_what_is_forgotten_later_elsewhere_is_hidden_here(
    enrol: Enrol, agent: Agent, nele: Memory, url: str, valkey: TestValkey, app: FastAPI
) -> None:
    """By the receipt of the id under which it was said, which is no longer the one in use."""
    home, _ = await told(enrol, agent, nele)
    home.database.close()
    home.database.path.write_bytes(b"no database any more" * 500)
    await say(enrol(**ENROLLED, service_url=url), agent, "whatever")
    assert ["birch7"] == found(home, "birch7")
    async with nele.db.pipeline() as conn:
        await conn.execute("UPDATE turns SET hidden = true WHERE user_text LIKE 'birch7 %'")
    await receipts.publish(nele.db, app.state.services.redis, {"nele"})
    redis = enrol(**ENROLLED, redis_url=valkey.url).redis
    assert redis is not None
    await asyncio.to_thread(delivery.settle, home.database, redis, timeout_s=10)
    assert [] == found(home, "birch7")
    assert ["birch8"] == found(home, "birch8")
