"""What memory believed at a moment: by when it was learnt, which is another question than when it was so."""

from datetime import UTC, datetime

import asyncpg
import pytest

from nextlevel.store import blocks
from tests.support.memory import Memory


def june(day: int) -> datetime:
    return datetime(2026, 6, day, 9, 0, tzinfo=UTC)


@pytest.fixture
async def learnt_on(database):
    """Put what was learnt, or what changed a block, on a day of June: the database's own clock can't be set back."""

    async def put(block_id, day: int, *, changed: int | None = None) -> None:
        conn = await asyncpg.connect(database.admin_dsn)
        await conn.execute("UPDATE blocks SET created_at = $2 WHERE block_id = $1", block_id, june(day))
        if changed is not None:
            await conn.execute("UPDATE block_versions SET changed_at = $2 WHERE block_id = $1", block_id, june(changed))
        await conn.close()

    return put


async def ports(ask, **moments) -> list[str]:
    answer = await ask("which port does the crm run on?", **moments)
    return [item.block.object for item in answer.items]


async def test_what_was_learnt_late_was_not_known_before(nele: Memory, ask, learnt_on):
    """Told on the 10th that it was so since the 1st: who asks why the agent erred on the 5th must not see it known."""
    late = await nele.tell("crm", "runs_on_port", "8091", since=june(1))
    await learnt_on(late.id, 10)
    assert ["8091"] == await ports(ask, as_of=june(5))
    assert [] == await ports(ask, as_of=june(5), known_at=june(5))
    assert ["8091"] == await ports(ask, as_of=june(5), known_at=june(12))
    assert [] == await ports(ask, known_at=june(5))


async def test_what_was_replaced_since_was_still_believed(nele: Memory, ask, learnt_on):
    """On the 5th nobody knew that the port had moved on the 3rd: memory's answer of that day can be had again."""
    old = await nele.tell("crm", "runs_on_port", "8080", since=june(1))
    new = await nele.tell("crm", "runs_on_port", "8091", since=june(3), replaces=old)
    await learnt_on(old.id, 1, changed=10)
    await learnt_on(new.id, 10)
    then = await ask("which port does the crm run on?", as_of=june(5), known_at=june(5))
    assert [("8080", "active", None)] == [
        (item.block.object, item.block.status, item.block.valid_to) for item in then.items
    ]
    assert "until" not in then.context
    assert ["8091"] == await ports(ask, as_of=june(5), known_at=june(10))
    assert ["8080"] == await ports(ask, as_of=june(2), known_at=june(10))


async def test_of_several_changes_the_state_between_them_is_found(nele: Memory, ask, learnt_on, database):
    """Taken back on the 5th, let hold again on the 8th: known on the 3rd and the 9th, not on the 6th."""
    block = await nele.tell("crm", "runs_on_port", "8080", since=june(1))
    async with nele.db.memory(nele.scope) as conn:
        await blocks.retract(conn, nele.scope, block, at=june(1), caused_by="test")
        await blocks.undo_turn(conn, nele.scope, "test", [])
    await learnt_on(block.id, 1, changed=5)
    conn = await asyncpg.connect(database.admin_dsn)
    await conn.execute("UPDATE block_versions SET changed_at = $1 WHERE change = 'restored'", june(8))
    await conn.close()
    assert [["8080"], [], ["8080"]] == [await ports(ask, known_at=june(day)) for day in (3, 6, 9)]


async def test_no_past_turn_is_quoted_for_what_was_known(nele: Memory, ask):
    """A turn that was told to memory later would be quoted as known before: what was said is no belief."""
    await nele.say("We chose the blue mooring buoy for the harbour.", at=june(1))
    query = "what did we say about the mooring buoy?"
    assert (await ask(query, as_of=june(5))).items
    assert not (await ask(query, as_of=june(5), known_at=june(5))).items
