"""Troubles for a running service, so that each page has something to show, made by what makes real ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from nextlevel.model import TurnState
from nextlevel.queue import streams
from nextlevel.redis_client import connect
from nextlevel.settings import Settings
from nextlevel.store import scopes, status, trace, turns
from nextlevel.store.pool import Connection, Database
from tests.support.builders import event

INSTALL = "kontor"
TRACEBACK = """Traceback (most recent call last):
  File "workers/jobs.py", line 88, in _act
    return await STAGES[stage].act(ctx, claim)
  File "workers/stages.py", line 71, in store_turn
    embedded = await _embed(ctx, findings)
  File "workers/stages.py", line 164, in _embed
    return Embedded(rows={key: vector[index] for index, key in enumerate(texts)})
IndexError: index 3 is out of bounds for axis 0 with size 3
"""


async def trouble(settings: Settings) -> None:
    """Turns that wait and why, dead ones, refused events: nothing that a worker at work would clear away at once."""
    db = await Database.connect(settings.need_postgres())
    client = connect(settings.need_redis())
    try:
        async with db.pipeline() as conn:
            for install in (INSTALL, "old-laptop"):
                await scopes.enrol(conn, install)
            await conn.execute("UPDATE installations SET revoked_at = clock_timestamp() WHERE install = 'old-laptop'")
        await _waiting(db)
        await _dead(db)
        for raw in (b'{"v": 7, "id": "', b'{"v": 1, "id": "lab:1"}'):
            await client.xadd("nl:turns", {b"e": raw})
        await streams.publish(client, event("The scanner in the lab is called argus.", install="old-laptop", seq=1))
    finally:
        await client.aclose()
        await db.close()


async def _waiting(db: Database) -> None:
    said = [
        ("s-invoice", "The invoices go out on the third working day now, not on the first."),
        ("s-invoice", "And send a copy to the tax office's address."),
        ("s-backup", "Move the nightly backup to 03:40, the old slot collides with the import."),
        ('s/ünïcode "quoted"', "Der Drucker im Flur heißt jetzt papyrus und steht in Raum 2.14."),
        ("s-import", "Here is the export of all customers, as one table: …"),
    ]
    for number, (session, text) in enumerate(said, 1):
        await _receive(db, number, session, text, minutes=47 - number * 9)
    await _put_back(db, 1, 3600, "the language model answers 429: quota exceeded")
    await _put_back(db, 3, 900, "Redis does not answer: timed out")
    await _put_back(db, 4, 1800, "the embedder is loading")
    async with db.pipeline() as conn:
        # Held by nobody, and behind the first of its session.
        await conn.execute("UPDATE turns SET not_before = NULL WHERE id = $1", f"{INSTALL}:2")
        await conn.execute("UPDATE turns SET crashes = 1 WHERE id = $1", f"{INSTALL}:5")
        await _claim(conn, 5, lease_s=30)


async def _dead(db: Database) -> None:
    said = [
        ("Please remember that the staging database runs on port 5433.", "IndexError", TRACEBACK),
        ("The changelog for 4.2 is ready for review.", "IndexError", TRACEBACK),
        ("Here is the whole core dump you asked for …", "poison", "it killed its worker 3 times"),
    ]
    for number, (text, code, reason) in enumerate(said, 11):
        await _receive(db, number, "s-release", text, minutes=200 + number)
        async with db.pipeline() as conn:
            claim = await _claim(conn, number)
            await turns.advance(conn, claim, TurnState.DEAD, f"{code}: {reason.strip().splitlines()[-1]}")
            await trace.add(conn, claim.scope.tenant_id, claim.turn.id, "dead", code=code, stage=claim.state)
            await status.add_dead_letter(
                conn, "dead", tenant_id=claim.scope.tenant_id, turn_id=claim.turn.id, code=code, reason=reason
            )


async def _receive(db: Database, number: int, session: str, text: str, *, minutes: float) -> None:
    said_at = datetime.now(UTC) - timedelta(minutes=minutes)
    told = event(text, install=INSTALL, seq=number, session=session, turn=number, at=said_at.isoformat())
    async with db.pipeline() as conn:
        owner = await scopes.resolve(conn, INSTALL, profile="default", principal="local", accept_unenrolled=False)
        filed, how = await turns.receive(conn, told, owner)
        await trace.add(conn, owner.tenant_id, filed, "ingest", how=how, kind="turn", user_chars=len(text))
        # As if it had come when it was said; and held, so that no worker takes it before the scene is set.
        await conn.execute(
            "UPDATE turns SET received_at = at, not_before = clock_timestamp() + interval '1 hour' WHERE id = $1", filed
        )


async def _claim(conn: Connection, number: int, *, lease_s: float = 15) -> turns.Claim:
    owner = await scopes.resolve(conn, INSTALL, profile="default", principal="local", accept_unenrolled=False)
    claim = await turns.claim(conn, owner.tenant_id, f"{INSTALL}:{number}", TurnState.RECEIVED, 0, lease_s=lease_s)
    assert claim is not None
    return claim


async def _put_back(db: Database, number: int, delay_s: float, reason: str) -> None:
    async with db.pipeline() as conn:
        claim = await _claim(conn, number)
        await turns.put_back(conn, claim, delay_s=delay_s, reason=reason)
