"""What nobody used for as long as it lives expires by upkeep: written down, told to readers, and not lost."""

import json

from nextlevel.store import status
from nextlevel.workers import expiry
from nextlevel.workers.expiry import expire_outlived
from tests.support.builders import event

TOLD = event("Remember: crm runs on port 8080.", seq=1)
OUTLIVE = "UPDATE blocks SET expires_at = now() - interval '1 minute' WHERE status = 'active'"


async def counted(bench) -> dict[str, int]:
    async with bench.ctx.db.pipeline() as conn:
        return (await status.snapshot(conn))["expired"]


async def generations(bench) -> dict:
    return dict(await bench.rows("SELECT scope_id, generation FROM scopes"))


async def test_what_is_outlived_expires_with_a_version_and_readers_are_told(bench):
    """Recall leaves it out from that moment on; a list, an export and a cached context must come to say the same."""
    await bench.remember(TOLD)
    assert 0 == await expire_outlived(bench.ctx)
    await bench.rows(OUTLIVE)
    before = await generations(bench)
    assert {"waiting": 1, "today": 0} == await counted(bench)

    assert 1 == await expire_outlived(bench.ctx)
    [block] = await bench.rows("SELECT block_id, scope_id, status, valid_to FROM blocks")
    assert ("expired", None) == (block["status"], block["valid_to"])
    [version] = await bench.rows("SELECT change, before FROM block_versions WHERE block_id = $1", block["block_id"])
    assert ("expired", "active") == (version["change"], json.loads(version["before"])["status"])
    assert before[block["scope_id"]] + 1 == (await generations(bench))[block["scope_id"]]
    assert {"waiting": 0, "today": 1} == await counted(bench)
    assert 0 == await expire_outlived(bench.ctx)


async def test_told_again_after_its_end_a_fact_lives_again(bench):
    await bench.remember(TOLD)
    await bench.rows(OUTLIVE)
    await expire_outlived(bench.ctx)
    await bench.remember(event("Remember: crm runs on port 8080.", seq=2, turn=2))
    assert ["active", "expired"] == sorted(row["status"] for row in await bench.rows("SELECT status FROM blocks"))


async def test_a_run_goes_by_small_batches_and_ends_in_time_and_the_next_one_goes_on(bench, monkeypatch):
    """A hundred thousand that end on one day must hold neither a person's lock nor the other chores for a minute."""
    await bench.remember(TOLD, event("Remember: pegelwacht runs on port 8091.", seq=2, turn=2))
    await bench.rows(OUTLIVE)
    monkeypatch.setattr(expiry, "BLOCKS_AT_ONCE", 1)
    monkeypatch.setattr(expiry, "LONGEST_RUN_S", 0.0)
    assert 0 == await expire_outlived(bench.ctx)
    monkeypatch.setattr(expiry, "LONGEST_RUN_S", 60.0)
    before = await generations(bench)
    assert 2 == await expire_outlived(bench.ctx)
    raised = {scope: now - before[scope] for scope, now in (await generations(bench)).items()}
    assert [0, 2] == sorted(raised.values()), "a transaction each"
