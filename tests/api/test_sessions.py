"""GET /v1/sessions: a person's conversations, latest first; nobody else's, and no other profile's."""

from dataclasses import replace

from nextlevel.store import scopes, sessions, turns
from nextlevel.workers.steps.digest import digest
from tests.support.builders import event

WHOSE = {"install": "nele"}


async def tell(memory, *told):
    async with memory.db.pipeline() as conn:
        for each in told:
            await turns.receive(conn, each, memory.scope)


def said(text, seq, session, install="nele"):
    return replace(event(text, seq=seq, install=install), session=session)


async def test_sessions_come_latest_first_with_what_each_came_to(as_nele, nele):
    await tell(nele, said("The crm runs on birch-2.", 1, "s1"), said("Let's go with caddy.", 2, "s2"))
    async with nele.db.memory(nele.scope) as conn:
        told = await sessions.turns(conn, nele.scope, "s2", limit=10)
        await sessions.save_digest(conn, nele.scope, "s2", digest(told))
    found = (await as_nele.get("/v1/sessions", params=WHOSE)).json()
    assert [("s2", 1), ("s1", 1)] == [(each["session"], each["turns"]) for each in found["sessions"]]
    assert ["Let's go with caddy"] == [each["text"] for each in found["sessions"][0]["digest"]["decisions"]]
    assert found["sessions"][1]["digest"] is None
    assert found["next"] is None


async def test_pages_follow_each_other_without_a_gap(as_nele, nele):
    await tell(nele, *(said(f"turn {n}", n, f"s{n}") for n in range(1, 6)))
    seen, after = [], None
    while True:
        page = (
            await as_nele.get("/v1/sessions", params={**WHOSE, "limit": 2} | ({"after": after} if after else {}))
        ).json()
        seen += [each["session"] for each in page["sessions"]]
        after = page["next"]
        if after is None:
            break
    assert ["s5", "s4", "s3", "s2", "s1"] == seen
    assert 422 == (await as_nele.get("/v1/sessions", params={**WHOSE, "after": "nonsense"})).status_code


async def test_nobody_sees_anothers_sessions(as_kim, as_nele, nele, kim):
    await tell(nele, said("The crm runs on birch-2.", 1, "s1"))
    assert 403 == (await as_kim.get("/v1/sessions", params=WHOSE)).status_code
    assert [] == (await as_kim.get("/v1/sessions", params={"install": "kim"})).json()["sessions"]
    async with kim.db.memory(kim.scope) as conn:  # nor by a query that forgot whose it is
        assert 0 == await conn.fetchval("SELECT count(*) FROM sessions WHERE tenant_id = $1", nele.scope.tenant_id)


async def test_another_profile_of_the_same_person_has_its_own(as_nele, nele):
    await tell(nele, said("The crm runs on birch-2.", 1, "s1"))
    assert [] == (await as_nele.get("/v1/sessions", params={**WHOSE, "profile": "work"})).json()["sessions"]


async def test_memories_told_outside_a_conversation_are_no_session(as_nele, nele):
    async with nele.db.pipeline() as conn:
        scope = await scopes.resolve(conn, "nele", profile="default", principal="local", accept_unenrolled=False)
        await turns.receive(
            conn, event("plum cake", seq=1, install="nele", kind="remember", session="api", turn=0), scope
        )
    assert [] == (await as_nele.get("/v1/sessions", params=WHOSE)).json()["sessions"]
