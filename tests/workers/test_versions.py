"""No block changes in place without a version row: the past must be readable whatever touched it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import asyncpg
import pytest

from nextlevel.model import EntityType
from nextlevel.store import merges
from nextlevel.workers.consolidate import consolidate
from nextlevel.workers.expiry import expire_outlived
from tests.support.builders import NOON, event
from tests.support.memory import Memory

WATCH = """
CREATE TABLE watched (block_id uuid, content jsonb);
CREATE FUNCTION content(b jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT b - ARRAY['tenant_id', 'block_id', 'user_id', 'hash', 'updated_at', 'expires_at', 'access_count',
                   'last_accessed', 'verdict'] -- what use and a person's verdict move is no part of what it says
$$;
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  IF public.content(to_jsonb(OLD)) <> public.content(to_jsonb(NEW)) THEN
    INSERT INTO public.watched VALUES (OLD.block_id, public.content(to_jsonb(OLD)));
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER watch BEFORE UPDATE ON blocks FOR EACH ROW EXECUTE FUNCTION watch();
"""
UNVERSIONED = """
SELECT w.content FROM watched w
 WHERE NOT EXISTS (SELECT FROM block_versions v WHERE v.block_id = w.block_id AND content(v.before) = w.content)
"""


@pytest.fixture
async def changes(bench):
    """How often a block was changed in place; and a look that each time a version holds what was there before."""
    conn = await asyncpg.connect(bench.admin_dsn)
    await conn.execute(WATCH)

    async def counted() -> int:
        assert [] == await conn.fetch(UNVERSIONED)
        return int(await conn.fetchval("SELECT count(*) FROM watched"))

    yield counted
    await conn.execute("DROP FUNCTION watch() CASCADE; DROP FUNCTION content(jsonb); DROP TABLE watched")
    await conn.close()


def told(text: str, seq: int, day: int, **more):
    return replace(event(text, seq=seq, session=f"s{seq}", **more), at=(NOON + timedelta(days=day)).isoformat())


async def test_what_talk_changes_in_a_block_leaves_what_was_before(bench, changes):
    """Told again, replaced, replaced by what arrives late, taken back, undone."""
    steps = [
        told("waldseilgarten-crm runs on port 8080.", 1, 0),
        told("waldseilgarten-crm runs on port 8080.", 2, 1),
        told("waldseilgarten-crm runs on port 8091.", 3, 9),
        told("waldseilgarten-crm runs on port 8085.", 4, 5),
        told("waldseilgarten-crm no longer runs on port 8091.", 5, 10),
        told("", 6, 11, kind="retract", assistant_text="", body={"turns": ["home:5"]}),
        told("waldseilgarten-crm runs on port 8091 behind Caddy.", 7, 12),
        told("waldseilgarten-crm runs on port 8080.", 8, -3),
    ]
    for step in steps:
        await bench.remember(step)
    assert await changes() >= 6


async def test_what_upkeep_and_a_person_change_in_a_block_leaves_what_was_before(bench, changes):
    """Merged by upkeep, joined and taken apart by hand, expired."""
    await bench.remember(event("Thanks, that is all.", seq=1))
    memory = Memory(bench.ctx.db, await bench.scope(), "home")
    await memory.tell("crm", "runs_on_port", "8080", confidence=0.7)
    await memory.tell("crm", "runs_on_port", "port 8080", since=NOON, confidence=0.9)
    await memory.tell("Flo", "uses", "Emacs", names=[("Emacs", EntityType.TECHNOLOGY)])
    await memory.tell("Florian", "keeps", "bees")
    assert 1 == await consolidate(bench.ctx)
    async with bench.ctx.db.memory(memory.scope) as conn:
        kept, merged = [await merges.find(conn, memory.scope, name) for name in ("Florian", "Flo")]
        await merges.merge(conn, memory.scope, kept, merged)
        await merges.split(conn, memory.scope, kept, "Flo")
    await bench.rows("UPDATE blocks SET expires_at = now() - interval '1 hour' WHERE subject = 'Flo'")
    assert 1 == await expire_outlived(bench.ctx)
    assert await changes() >= 5
