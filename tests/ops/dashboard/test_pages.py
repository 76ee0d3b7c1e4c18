"""Each page shows what it promises, whatever was written into it, and whatever is down."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from html.parser import HTMLParser

import asyncpg
import pytest

from nextlevel.model import TurnState
from nextlevel.ops.dashboard.pages import PAGE
from nextlevel.store import blocks, recalls, turns
from nextlevel.store.migrate import migrate
from nextlevel.store.status import add_dead_letter
from tests.ops.dashboard.conftest import SAME_SITE, browser, serving, stamp
from tests.store.test_recalls import recalled
from tests.support import stores
from tests.support.builders import event, scope

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover=alert(1) x='",
    "javascript:alert(1)",
    "</textarea></pre></blockquote><h1>mine",
    "{{ 12345 * 3 }}{% include 'login.html' %}",
    "x" * 3_000,
    "\u202eevil \u2066rtl مرحبا",
    "null",
)


class Reader(HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def harmless(page: str) -> None:
    """No script of its own, no handler, no address that runs, no style: nothing but our files."""
    reader = Reader()
    reader.feed(page)
    for tag, attributes in reader.seen:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert "style" not in attributes
        for name in ("href", "src", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith(("/dashboard/", "#")), (tag, value)
        if tag == "script":
            assert attributes.get("src", "").startswith("/dashboard/static/")
    assert 1 >= sum(tag == "h1" for tag, _ in reader.seen)
    assert "37035" not in page


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_text_is_inert_on_every_page(app, here, nele, text):
    """A memory, a session's id, an error or an event may hold anything: it is shown, and does nothing."""
    services = app.state.services
    told = event(f"Told: {text}", install="nele", seq=1, session=f"s/'{text[:400]}", assistant_text=text)
    dead = event(text, install="nele", seq=2, session=text[:500])
    block = await nele.tell("crm", "is_called", text[:900], context=text[:280])
    async with services.db.pipeline() as conn:
        await turns.receive(conn, told, nele.scope)
        await turns.receive(conn, dead, nele.scope)
        claim = await turns.claim(conn, nele.scope.tenant_id, "nele:2", TurnState.RECEIVED, 0, lease_s=15)
        assert claim is not None
        await turns.advance(conn, claim, TurnState.DEAD, text[:400])
        letter = {"tenant_id": nele.scope.tenant_id, "turn_id": "nele:2"}
        await add_dead_letter(conn, "dead", code=text[:150], reason=f"first\n{text}", **letter)
        await add_dead_letter(conn, "quarantined", code="bad_json", reason=text, entry_id="e", raw=text.encode())
        await recalls.add(conn, [recalled(nele.scope, block.id, query=text[:300], session=text[:300])])
    async with services.db.memory(nele.scope) as conn:
        await blocks.add_source(conn, nele.scope, block.id, "nele:1", text[:1000], block.valid_from)
    whose = nele.scope.profile_scope
    addresses = [
        "/",
        "/queues",
        "/queues?view=ended",
        "/dead",
        f"/memory?scope={whose}",
        f"/memory/{whose}/{block.id}",
        f"/memory/{whose}/{block.id}/forget",
        "/turns/nele:1",
        "/turns/nele:2",
    ]
    for address in addresses:
        page = await here.get(f"/dashboard{address}")
        assert 200 == page.status_code, address
        harmless(page.text)
        # Each link that holds a piece of it leads back to a page of ours.
        for link in {unescape(found) for found in re.findall(r'href="(/dashboard/(?:queues|dead)\?[^"]+)"', page.text)}:
            assert 200 == (await here.get(link)).status_code, link
    for name in ("session", "text"):
        found = await here.get("/dashboard/queues", params={name: text[:500], "view": "ended"})
        assert 200 == found.status_code
        harmless(found.text)


async def test_an_empty_house_says_what_to_expect(here):
    """Four blank tables would look broken to whoever has just begun."""
    expected = {
        "/": "nothing waits",
        "/queues": "Nothing waits",
        "/dead": "Nothing died",
        "/memory": "Nobody has a memory yet",
    }
    for address, words in expected.items():
        assert words in (await here.get(f"/dashboard{address}")).text


async def test_pages_go_on_where_the_last_one_ended(app, here):
    services = app.state.services
    owner = await scope(services.db)
    async with services.db.pipeline() as conn:
        for number in range(1, PAGE + 8):
            await turns.receive(conn, event(seq=number), owner)
    first = (await here.get("/dashboard/queues")).text
    following = re.search(r'rel="next" href="([^"]+)"', first)
    assert following is not None
    second = (await here.get(unescape(following[1]))).text
    ids = [set(re.findall(r"<code>(home:\d+)</code></a> <span", page)) for page in (first, second)]
    assert [PAGE, 7] == [len(each) for each in ids]
    assert not ids[0] & ids[1]
    assert 'rel="next"' not in second


async def test_memory_is_shown_as_it_was_known_on_a_day(database, here, nele):
    """Why did the agent say 8080 on the 5th? Because that is what it knew, whatever it has learnt since."""
    old = await nele.tell("crm", "runs_on_port", "8080")
    await nele.tell("crm", "runs_on_port", "8091", replaces=old)
    conn = await asyncpg.connect(database.admin_dsn)
    await conn.execute("UPDATE blocks SET created_at = '2026-06-05T08:00Z' WHERE block_id = $1", old.id)
    await conn.close()

    async def shown(**filters: str) -> tuple[bool, bool, bool]:
        page = (await here.get("/dashboard/memory", params=filters)).text
        harmless(page)
        return "8080" in page, "8091" in page, "As memory knew it" in page

    assert (True, True, False) == await shown()
    assert (True, False, True) == await shown(known_at="2026-06-05", status="active")
    assert (False, False, True) == await shown(known_at="2026-06-04")
    for no_day in ("2026-02-30", "yesterday", "0000-01-01", "9999-12-31T00:00"):
        assert (True, True, False) == await shown(known_at=no_day)
    assert (True, True, True) == await shown(known_at="9999-12-31")
    assert (False, False, True) == await shown(known_at="0001-01-01")


@pytest.mark.parametrize("after", ["x", "2026-01-01~", "2026-01-01T00:00:00~id", "~"])
async def test_a_page_that_never_was_is_said_to_be_missing(here, after):
    for address in ("/queues", "/memory"):
        page = await here.get(f"/dashboard{address}", params={"after": after})
        assert page.status_code in (200, 404)  # an empty memory has no pages to miss
        assert "Traceback" not in page.text
    assert 404 == (await here.get("/dashboard/queues", params={"after": after})).status_code


async def test_a_bulk_decision_names_its_number_and_reaches_no_further(app, here):
    """What died between the look and the click was not part of the question."""
    services = app.state.services

    async def die(count: int) -> None:
        async with services.db.pipeline() as conn:
            for _ in range(count):
                await add_dead_letter(conn, "quarantined", code="bad_json", reason="no", raw=b"{")

    await die(PAGE + 5)
    preview = (await here.get("/dashboard/dead/decide", params={"deed": "discard", "code": "bad_json"})).text
    assert f"Discard {PAGE + 5} dead letters?" in preview
    await die(2)
    up_to = re.search(r'name="up_to" value="(\d+)"', preview)
    assert up_to is not None
    form = {"stamp": stamp(preview), "deed": "discard", "code": "bad_json", "up_to": up_to[1]}
    done = await here.post("/dashboard/dead/decide", data=form, headers=SAME_SITE)
    assert f"{PAGE + 5} discarded" in done.text
    assert "<b>2</b> letters fit" in (await here.get("/dashboard/dead")).text


async def test_live_figures_arrive_as_they_change_and_end_with_the_service(app, here):
    """A stream that outlives its service holds up the stop."""
    [dashboard] = [each.app for each in app.routes if getattr(each, "path", None) == "/dashboard"]
    pulse = dashboard.state.pulse
    first = await pulse.sample(app.state.services)
    assert 0 == first.waiting
    events = pulse.stream(app.state.services, lambda sample: {"count": str(sample.waiting)})
    assert "event: count\ndata: 0\n\n" == await anext(events)
    owner = await scope(app.state.services.db)
    async with app.state.services.db.pipeline() as conn:
        await turns.receive(conn, event(seq=1), owner)
    async with asyncio.timeout(30):
        while "data: 1" not in (each := await anext(events)):
            assert each.startswith(":")
    assert 1 == pulse.watchers
    pulse.stop()
    async with asyncio.timeout(5):
        assert [] == [each async for each in events if each.startswith("event")]
    assert 0 == pulse.watchers


async def test_with_its_stores_down_the_overview_says_so_and_the_others_say_what_to_do(own_postgres, own_valkey):
    """An operator opens it exactly then."""
    await migrate(own_postgres.admin_dsn)
    database = stores.Database("postgres", own_postgres.dsn, own_postgres.admin_dsn)
    async with serving(database, own_valkey) as app, browser(app) as here:
        await own_postgres.stop()
        await own_valkey.stop()
        overview = await here.get("/dashboard/")
        assert 200 == overview.status_code
        assert 2 == overview.text.count("Something does not answer.")
        for address in ("/queues", "/dead", "/memory", "/turns/home:1"):
            page = await here.get(f"/dashboard{address}")
            assert 503 == page.status_code
            assert "A store does not answer" in page.text
