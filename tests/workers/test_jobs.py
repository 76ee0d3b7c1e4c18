"""Every way out of a stage has a name and leaves the turn in a state that a person can see."""

import asyncio

import pytest

from nextlevel.errors import Misconfigured, StoreUnreachable
from nextlevel.model import TurnState
from nextlevel.store import turns
from nextlevel.workers import jobs
from nextlevel.workers.jobs import STAGES, Stage
from nextlevel.workers.outcomes import Outcome
from nextlevel.workers.upkeep import Reconciler
from tests.support.builders import event

FACT = event("waldseilgarten-crm runs on port 8080.", seq=1)


async def ready(bench, state=TurnState.RECEIVED):
    async with bench.ctx.db.pipeline() as conn:
        return await turns.ready(conn, state, limit=10, gap_wait_s=0)


async def run_once(bench, stage="extract"):
    [turn] = await ready(bench, STAGES[stage].takes)
    return await jobs.run(bench.ctx, stage, turn.tenant_id, turn.id, turn.fence)


def failing(monkeypatch, error):
    """The extract stage, as it would be if this happened in it."""

    async def act(ctx, claim):
        raise error

    monkeypatch.setitem(STAGES, "extract", Stage(TurnState.RECEIVED, act))


async def test_something_that_is_down_puts_the_turn_back_without_counting(bench, monkeypatch):
    await bench.tell(FACT)
    failing(monkeypatch, StoreUnreachable("gone fishing"))
    assert Outcome.PUT_BACK is await run_once(bench)
    [row] = await bench.rows(
        "SELECT state, attempts, crashes, reason, lease_until, not_before > now() AS waits FROM turns"
    )
    assert ("received", 0, 0, "gone fishing", None, True) == tuple(row)


@pytest.mark.parametrize(
    ("error", "code"),
    [(Misconfigured("no such model"), "Misconfigured"), (ZeroDivisionError("1/0"), "ZeroDivisionError")],
)
async def test_what_no_retry_can_help_is_dead_and_in_the_dead_set(bench, monkeypatch, error, code):
    """A bug must not be retried for ever, nor swallowed: it is dead, with its traceback."""
    await bench.tell(FACT)
    failing(monkeypatch, error)
    assert Outcome.DEAD is await run_once(bench)
    [turn] = await bench.rows("SELECT state, reason FROM turns")
    assert "dead" == turn["state"]
    assert str(error) in turn["reason"]
    [letter] = await bench.rows("SELECT kind, code, reason, turn_id FROM dead_letters")
    assert ("dead", code, "home:1") == (letter["kind"], letter["code"], letter["turn_id"])
    assert ("Traceback" in letter["reason"]) == (code == "ZeroDivisionError")


async def test_a_dead_turn_does_not_hold_up_its_session(bench, monkeypatch):
    await bench.tell(FACT, event("Postgres is our database.", seq=2))
    failing(monkeypatch, ZeroDivisionError())
    await run_once(bench)
    assert ["home:2"] == [turn.id for turn in await ready(bench)]


async def test_a_stopped_worker_gives_its_turn_back_and_that_is_no_crash(bench, monkeypatch):
    """A deploy restarts workers all day; no turn may die of it."""
    started = asyncio.Event()

    async def act(ctx, claim):
        started.set()
        await asyncio.sleep(60)

    monkeypatch.setitem(STAGES, "extract", Stage(TurnState.RECEIVED, act))
    await bench.tell(FACT)
    running = asyncio.create_task(run_once(bench))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [turn] = await ready(bench)
    assert 0 == turn.crashes


async def test_a_turn_that_killed_three_workers_is_dead_and_says_so(bench):
    await bench.tell(FACT)
    await bench.rows("UPDATE turns SET crashes = 2, lease_until = now() - interval '1 second'")
    assert Outcome.DEAD is await run_once(bench)
    [turn] = await bench.rows("SELECT state, reason FROM turns")
    assert "poison: it killed its worker 3 times" == turn["reason"]


async def test_a_turn_that_killed_two_workers_runs_in_a_process_of_its_own(bench, database, valkey, monkeypatch):
    """The third worker it might kill must not have other people's turns in hand."""
    await bench.tell(FACT)
    await bench.rows("UPDATE turns SET crashes = 1, lease_until = now() - interval '1 second'")
    monkeypatch.setenv("NEXTLEVEL_POSTGRES_DSN", database.dsn)
    monkeypatch.setenv("NEXTLEVEL_REDIS_URL", valkey.url)
    reconciler = Reconciler(bench.ctx, bench.ctx.queue)
    assert 1 == await reconciler.look()
    assert {"home:1"} == reconciler.isolating
    assert {"extract": 0, "link": 0, "store": 0} == await bench.ctx.queue.depths(), "it went to no shared queue"
    await asyncio.gather(*reconciler.tasks)
    assert {"home:1": "stored"} == await bench.states()
    assert set() == reconciler.isolating


async def test_a_heartbeat_keeps_a_long_stage_its_lease(bench, monkeypatch):
    finished = asyncio.Event()

    async def act(ctx, claim):
        await finished.wait()
        return Outcome.ADVANCED

    monkeypatch.setitem(STAGES, "extract", Stage(TurnState.RECEIVED, act))
    short = bench.ctx.settings.model_copy(update={"lease_s": 0.3})
    monkeypatch.setattr(bench.ctx, "settings", short)
    await bench.tell(FACT)
    running = asyncio.create_task(run_once(bench))
    leases = set()
    async with asyncio.timeout(20):
        while len(leases) < 4:
            leases |= {row["lease_until"] for row in await bench.rows("SELECT lease_until FROM turns")} - {None}
            await asyncio.sleep(0.05)
    finished.set()
    assert Outcome.ADVANCED is await running


async def test_a_job_for_a_turn_that_has_moved_on_leaves_quietly(bench):
    await bench.tell(FACT)
    [turn] = await ready(bench)
    first = await jobs.run(bench.ctx, "extract", turn.tenant_id, turn.id, turn.fence)
    again = await jobs.run(bench.ctx, "extract", turn.tenant_id, turn.id, turn.fence)
    assert (Outcome.ADVANCED, Outcome.ANOTHER_HAS_IT) == (first, again)


async def test_a_lost_lease_rolls_the_stages_work_back(bench, monkeypatch):
    """A worker that slept past its lease must not store what its successor stored."""
    await bench.tell(FACT)
    await run_once(bench, "extract")
    await run_once(bench, "link")
    real = STAGES["store"].act

    async def overtaken(ctx, claim):
        await bench.rows("UPDATE turns SET fence = fence + 1")
        return await real(ctx, claim)

    monkeypatch.setitem(STAGES, "store", Stage(TurnState.LINKED, overtaken))
    assert Outcome.LOST is await run_once(bench, "store")
    assert set() == await bench.facts()


async def test_the_reconciler_wakes_what_a_wiped_redis_forgot(bench):
    """The queue remembers nothing: Postgres does."""
    await bench.tell(FACT)
    await bench.ctx.redis.flushall()
    reconciler = Reconciler(bench.ctx, bench.ctx.queue)
    assert 1 == await reconciler.look()
    assert 0 == await reconciler.look(), "a stage is woken once for each fence"
    assert {"extract": 1, "link": 0, "store": 0} == await bench.ctx.queue.depths()


async def test_the_queue_holds_at_most_twice_a_stages_concurrency(bench):
    """The backlog stays in Postgres, where it has an order."""
    many = [event(f"fact {n}", seq=n, session=f"s{n}") for n in range(1, 31)]
    await bench.tell(*many)
    assert 2 * bench.ctx.settings.stage_concurrency == await Reconciler(bench.ctx, bench.ctx.queue).look()
