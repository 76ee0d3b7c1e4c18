"""The stream's reader: all that arrives ends in a visible state, and nothing is acknowledged before it is safe."""

import asyncio
import json
import random
from dataclasses import asdict, replace

import pytest

from nextlevel.errors import StoreUnreachable
from nextlevel.event import STREAM, encode, unpacked
from nextlevel.model import ToolCall
from nextlevel.queue import streams
from nextlevel.safety.markers import HEADER
from nextlevel.store import letters
from nextlevel.store.status import LONGEST_INPUT
from nextlevel.workers.ingest import Ingest
from nextlevel.workers.upkeep import chores
from tests.support.builders import event


async def publish_raw(bench, fields):
    await streams.ensure_group(bench.ctx.redis)
    await bench.ctx.redis.xadd(STREAM, fields)


def raw(**changes):
    return json.dumps({**asdict(event(seq=7)), **changes}).encode()


@pytest.mark.parametrize(
    ("fields", "code", "is_a_turn"),
    [
        ({"e": raw(v=99)}, "unknown_version", True),
        ({"e": raw(kind="horoscope")}, "unknown_kind", True),
        ({"e": raw(at="yesterday")}, "bad_time", True),
        ({"e": b"\xff\xfe broken"}, "broken_unicode", False),
        ({"e": b"{not json"}, "bad_json", False),
        ({"e": b"x" * (4 * 1024 * 1024 + 1)}, "too_large", False),
        ({"z": b"AAAA"}, "bad_compression", False),
        ({"other": b"field"}, "no_event", False),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_bad_event_is_quarantined_visibly_and_holds_up_no_other(bench, fields, code, is_a_turn):
    await publish_raw(bench, fields)
    await bench.tell(event(seq=8))
    [letter] = await bench.rows("SELECT kind, code, reason, input FROM dead_letters")
    assert ("quarantined", code) == (letter["kind"], letter["code"])
    assert letter["input"]
    states = await bench.states()
    assert "received" == states["home:8"]
    assert ("quarantined" == states.get("home:7")) == is_a_turn
    assert 0 == await bench.ctx.redis.xlen(STREAM)


async def test_a_quarantined_number_is_no_gap(bench):
    """Else the outbox would send it for ever."""
    await publish_raw(bench, {"e": raw(v=99, id="home:1")})
    await bench.tell(event(seq=2))
    ack = json.loads(await bench.ctx.redis.get("nl:ack:home"))
    assert (2, []) == (ack["mark"], ack["gaps"])


async def test_an_event_of_a_newer_plugin_waits_for_a_service_that_can_read_it(bench, monkeypatch):
    """Refused by name, and kept: told again after the upgrade it is the turn that it was, under its number."""
    newer = raw(v=2, id="home:1")
    await publish_raw(bench, {"e": newer})
    await bench.tell(event(seq=2))
    [letter] = await bench.rows("SELECT reason, input FROM dead_letters")
    assert "v=2; this reader knows [1]" in letter["reason"]

    await publish_raw(bench, {"e": letter["input"]})
    await bench.ingest()
    assert "quarantined" == (await bench.states())["home:1"]
    monkeypatch.setattr("nextlevel.event.READABLE_VERSIONS", frozenset({1, 2}))
    for _ in range(2):
        await publish_raw(bench, {"e": letter["input"]})
        await bench.ingest()
    assert {"home:1": "received", "home:2": "received"} == await bench.states()
    [row] = await bench.rows("SELECT user_text, session FROM turns WHERE id = 'home:1'")
    told = json.loads(newer)
    assert (told["user_text"], told["session"]) == (row["user_text"], row["session"])


@pytest.mark.parametrize("newer", [{"v": 2}, {"kind": "horoscope"}])
async def test_a_large_turn_of_a_newer_plugin_is_kept_whole(bench, newer):
    """Its number is acknowledged, so that nobody sends it again: cut, it would be lost to the upgrade that reads it."""
    chance = random.Random(7)  # words that pack badly
    said = " ".join("".join(chance.choices("abcdefghijklmnoprstuvwz", k=5)) for _ in range(40_000))
    sent = encode(replace(event(said, seq=1), **newer))["z"]
    assert len(sent) > LONGEST_INPUT
    await publish_raw(bench, {"z": sent})
    await bench.ingest()
    [row] = await bench.rows("SELECT dead_letter_id FROM dead_letters")
    async with bench.ctx.db.pipeline() as conn:
        letter = await letters.hold(conn, row["dead_letter_id"])
    assert letter is not None
    assert letter.whole
    assert said.encode() in unpacked({b"z": letter.input})


async def test_a_strangers_event_is_quarantined_on_a_shared_service(bench):
    bench.ctx.settings = bench.ctx.settings.model_copy(update={"accept_unenrolled": False})
    await bench.tell(event(install="stranger", seq=1))
    [letter] = await bench.rows("SELECT code, reason, tenant_id FROM dead_letters")
    assert ("unknown_installation", None) == (letter["code"], letter["tenant_id"])
    assert "nextlevel hermes install" in letter["reason"]


async def test_nul_bytes_and_lone_surrogates_are_replaced_not_refused(bench):
    text = json.dumps({**asdict(event(seq=1)), "user_text": "a\x00b\ud800c"}).encode()
    await publish_raw(bench, {"e": text})
    await bench.ingest()
    [row] = await bench.rows("SELECT user_text FROM turns")
    assert "a\ufffdb\ufffdc" == row["user_text"]


async def test_the_receipt_is_written_after_the_commit(bench):
    await bench.tell(event(seq=1), event(seq=2), event(seq=4))
    ack = json.loads(await bench.ctx.redis.get("nl:ack:home"))
    assert {"mark": 2, "high": 4, "gaps": [[3, 3]]} == {name: ack[name] for name in ("mark", "high", "gaps")}


async def test_receipts_lost_with_redis_are_rewritten(bench):
    await bench.tell(event(seq=1))
    await bench.ctx.redis.flushall()
    task = asyncio.create_task(chores(bench.ctx))
    async with asyncio.timeout(20):
        while await bench.ctx.redis.get("nl:ack:home") is None:
            await asyncio.sleep(0.02)
    task.cancel()


async def test_what_is_not_committed_is_not_acknowledged(bench, monkeypatch):
    """Postgres dies between reading and writing: the entry must come again."""
    await streams.ensure_group(bench.ctx.redis)
    await streams.publish(bench.ctx.redis, event(seq=1))
    reader = Ingest(bench.ctx, "bench")
    entries = await streams.read(bench.ctx.redis, "bench", count=10, block_ms=1)

    async def down(conn, batch):
        raise StoreUnreachable("Postgres is gone")

    with monkeypatch.context() as patch:
        patch.setattr(reader.__class__, "_file_all", lambda self, conn, batch: down(conn, batch))
        with pytest.raises(StoreUnreachable):
            await reader.take_in(entries)
    assert 1 == await bench.ctx.redis.xlen(STREAM)
    taken = await streams.take_over(bench.ctx.redis, "other", count=10, idle_ms=0)
    await Ingest(bench.ctx, "other").take_in(taken)
    assert {"home:1": "received"} == await bench.states()
    assert 0 == await bench.ctx.redis.xlen(STREAM)


async def test_an_entry_that_no_reader_ever_finished_goes_to_quarantine(bench):
    await streams.ensure_group(bench.ctx.redis)
    await streams.publish(bench.ctx.redis, event(seq=1))
    [entry] = await streams.read(bench.ctx.redis, "bench", count=10, block_ms=1)
    await Ingest(bench.ctx, "bench").take_in([replace(entry, deliveries=streams.LAST_DELIVERY)])
    assert {"home:1": "quarantined"} == await bench.states()
    [letter] = await bench.rows("SELECT code FROM dead_letters")
    assert "undeliverable" == letter["code"]


KEY = "ghp" + "_0123456789abcdefABCDEF0123456789abcd"


async def test_a_secret_from_a_host_without_our_rules_is_never_stored(bench):
    """Anybody may publish to the stream: what the plugin would have taken out goes at the door, and is counted."""
    call = ToolCall("terminal", args=f"curl -H 'x-key: {KEY}'", result=f"{HEADER}\n- crm: runs on port 8080")
    told = event(f"use {KEY}", seq=1, assistant_text=f"using {KEY}", tools=(call,), meta={"cwd": f"/srv/{KEY}"})
    await bench.tell(told)
    [row] = await bench.rows("SELECT to_jsonb(t)::text AS whole, meta->'redactions'->>'github_token' AS n FROM turns t")
    assert KEY not in row["whole"]
    assert "8080" not in row["whole"]
    assert "4" == row["n"]
    [step] = await bench.rows("SELECT facts FROM trace_events WHERE step = 'ingest'")
    assert {"github_token": 4} == json.loads(step["facts"])["redacted"]


async def test_a_quarantined_event_keeps_no_secret_and_can_still_be_told_again(bench):
    """What broke the contract is kept for a person to look at; its secrets are nobody's to see."""
    await publish_raw(bench, {"e": raw(v=99, user_text=f"use {KEY}")})
    await bench.ingest()
    [letter] = await bench.rows("SELECT input FROM dead_letters")
    assert KEY.encode() not in letter["input"]
    assert "use [redacted:github_token]" == json.loads(letter["input"])["user_text"]
