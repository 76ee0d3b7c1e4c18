"""GET /v1/turns: what an installation was told, for itself alone, without what may not be shown again."""

from datetime import UTC, datetime

from nextlevel.store import scopes, turns
from tests.support.builders import event

WHOSE = {"install": "nele"}


async def tell(memory, *told, **who):
    async with memory.db.pipeline() as conn:
        named = {"profile": "default", "principal": "local", **who}
        for each in told:
            scope = await scopes.resolve(conn, each.install, **named, accept_unenrolled=False)
            await turns.receive(conn, each, scope)


async def listed(asking, **more):
    found, after = [], None
    while True:
        given = WHOSE | more | ({} if after is None else {"after": after})
        page = (await asking.get("/v1/turns", params=given)).json()
        found += page["turns"]
        after = page["next"]
        if after is None:
            return found


def said(found):
    return [each["user_text"] for each in found]


async def test_turns_come_newest_first_as_they_were_told(as_nele, nele):
    """Under their own ids and fingerprints: else a file that has them already would hold them twice."""
    told = [event(f"turn {n}", seq=n, install="nele", meta={"platform": "cli"}) for n in range(1, 6)]
    await tell(nele, *told)
    found = await listed(as_nele, limit=2)
    assert [each.id for each in reversed(told)] == [each["id"] for each in found]
    newest, given = told[-1], found[0]
    wanted = (newest.fp, "s1", 5, "turn 5", "Noted.", {"platform": "cli"})
    assert wanted == tuple(given[name] for name in ("fp", "session", "turn", "user_text", "assistant_text", "meta"))
    assert datetime.fromisoformat(newest.at) == datetime.fromisoformat(given["at"])
    assert 422 == (await as_nele.get("/v1/turns", params={**WHOSE, "after": "nonsense"})).status_code


async def test_a_page_of_long_turns_ends_early_and_loses_none(as_nele, nele):
    """Two hundred of the longest would be more than a plugin takes in one answer."""
    await tell(nele, *(event(str(n) + "x" * 900_000, seq=n, install="nele") for n in range(1, 5)))
    page = (await as_nele.get("/v1/turns", params=WHOSE)).json()
    assert ["4", "3"] == [text[0] for text in said(page["turns"])]
    assert ["4", "3", "2", "1"] == [text[0] for text in said(await listed(as_nele))]


async def test_what_was_forgotten_taken_back_or_quarantined_is_not_given(as_nele, nele):
    await tell(nele, *(event(f"turn {n}", seq=n, install="nele") for n in range(1, 5)))
    async with nele.db.pipeline() as conn:
        await conn.execute("UPDATE turns SET hidden = true WHERE id = 'nele:1'")
        await turns.tombstone(conn, nele.scope, "turn", "nele:2", datetime.now(UTC))
        await conn.execute(
            "UPDATE turns SET state = 'quarantined', reason = 'x', finished_at = now() WHERE id = 'nele:3'"
        )
    assert ["turn 4"] == said(await listed(as_nele))


async def test_nobody_gets_anothers(as_nele, as_kim, nele, kim):
    """Neither another person's, of the same agent or not, nor another profile's, nor another machine's."""
    async with nele.db.pipeline() as conn:
        for install in ("nele-laptop", "nele.a1b2c3"):
            await scopes.enrol(conn, install, user="nele")
    await tell(kim, event("of kim", install="kim"))
    await tell(nele, event("of a colleague", install="nele"), principal="telegram:7")
    await tell(nele, event("at work", install="nele"), profile="work")
    await tell(nele, event("on the laptop", install="nele-laptop"), event("of a fork", install="nele.a1b2c3"))
    assert ["of a fork"] == said(await listed(as_nele))
    assert ["of a colleague"] == said(await listed(as_nele, principal="telegram:7"))
    assert ["at work"] == said(await listed(as_nele, profile="work"))
    assert 403 == (await as_kim.get("/v1/turns", params=WHOSE)).status_code
