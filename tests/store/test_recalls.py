"""Table recalls: behind the wall like everything else, bounded, and gone with what it showed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from nextlevel.model import Scope
from nextlevel.store import recalls
from nextlevel.store.recalls import Recalled
from tests.support.memory import person

NOW = datetime.now(UTC)


def recalled(scope: Scope, *blocks: UUID, **more: Any) -> Recalled:
    fields: dict[str, Any] = {
        "tenant_id": scope.tenant_id,
        "user_id": scope.user_id,
        "session": "s1",
        "at": NOW,
        "query": "which port?",
        "mode": "prefetch",
        "rung": "hot",
        "ms": 1.5,
        "abstained": not blocks,
        "vectors": True,
        "shown": tuple((block, 0.5) for block in blocks),
    }
    return Recalled(**{**fields, **more})


async def test_a_recall_is_found_by_the_blocks_it_showed_and_only_by_its_person(db):
    nele, kim = await person(db, "nele", user="nele"), await person(db, "kim", user="kim")
    block = await nele.tell("crm", "runs_on_port", "8080")
    other = await nele.tell("crm", "runs_on_port", "9090")
    async with db.pipeline() as conn:
        await recalls.add(
            conn, [recalled(nele.scope, other.id, block.id), recalled(nele.scope, other.id, query="x" * 900)]
        )
    async with db.memory(nele.scope) as conn:
        found = await recalls.showing(conn, nele.scope, [block.id], since=NOW - timedelta(hours=1), limit=10)
        both = await recalls.showing(conn, nele.scope, [other.id], since=NOW - timedelta(hours=1), limit=10)
    assert [[str(other.id), str(block.id)]] == [[each["block"] for each in row["shown"]] for row in found]
    assert {11, 300} == {len(row["query"]) for row in both}
    async with db.memory(kim.scope) as conn:
        assert [] == await recalls.showing(conn, nele.scope, [block.id], since=NOW - timedelta(hours=1), limit=10)


async def test_what_is_forgotten_takes_the_recalls_along_that_showed_it(db):
    """The question may quote what was to be forgotten."""
    nele = await person(db, "nele")
    secret, kept = await nele.tell("user", "sees", "a dentist"), await nele.tell("crm", "runs_on_port", "8080")
    async with db.pipeline() as conn:
        await recalls.add(conn, [recalled(nele.scope, secret.id, kept.id), recalled(nele.scope, kept.id)])
    await nele.forget(secret.id)
    async with db.pipeline() as conn:
        assert 1 == await conn.fetchval("SELECT count(*) FROM recalls")


async def test_old_recalls_are_let_go(db, monkeypatch):
    """Thirty days, and a hundred thousand rows: a table that only grows fills a laptop."""
    nele = await person(db, "nele")
    ages = [timedelta(days=31), timedelta(days=29), timedelta(), timedelta()]
    async with db.pipeline() as conn:
        await recalls.add(conn, [recalled(nele.scope, at=NOW - age) for age in ages])
        assert 1 == await recalls.prune(conn)
        monkeypatch.setattr(recalls, "KEEP_ROWS", 2)
        assert 1 == await recalls.prune(conn)
        assert 2 == await conn.fetchval("SELECT count(*) FROM recalls WHERE at = $1", NOW)
