"""Who sees every tenant's memory: whoever sits at the machine, and whoever has the operator's token. Nobody else."""

from __future__ import annotations

import pytest

from tests.ops.dashboard.conftest import HERE, SAME_SITE, TOKEN, browser, serving, stamp

PAGES = ("/", "/queues", "/dead", "/memory", "/live")
LOGIN = {"Sec-Fetch-Site": "same-origin"}


async def test_on_this_machine_the_pages_open_without_a_login(here):
    for page in PAGES[:-1]:
        answer = await here.get(f"/dashboard{page}")
        assert (200, "no-store") == (answer.status_code, answer.headers["cache-control"])
    assert "/dashboard/" == (await here.get("/")).headers["location"]


@pytest.mark.parametrize(
    ("url", "peer", "headers"),
    [
        ("http://evil.example:7717", "127.0.0.1", {}),  # a page's own name, made to point here
        ("http://127.0.0.1.evil.example", "127.0.0.1", {}),
        ("http://192.168.1.5:7717", "127.0.0.1", {}),
        (HERE, "192.168.1.9", {}),
        (HERE, "127.0.0.1", {"X-Forwarded-For": "203.0.113.9"}),  # a proxy on this machine, for somebody elsewhere
        (HERE, "127.0.0.1", {"Forwarded": "for=203.0.113.9"}),
    ],
)
async def test_whoever_is_not_here_has_to_log_in(app, url, peer, headers):
    """DNS rebinding, a neighbour's machine, a proxy: none of them is the person at the keyboard."""
    async with browser(app, url, peer, **headers) as there:
        for page in PAGES:
            answer = await there.get(f"/dashboard{page}")
            assert 303 == answer.status_code
            assert answer.headers["location"].startswith("/dashboard/login?next=")
        assert 401 == (await there.post("/dashboard/turns/home:1/release", headers=SAME_SITE)).status_code


async def test_a_service_that_listens_elsewhere_asks_on_its_own_machine_too(database, valkey):
    """Behind a port that others reach, a loopback peer may be anybody's tunnel."""
    async with serving(database, valkey, serve_host="192.0.2.1") as app, browser(app) as here:
        assert 303 == (await here.get("/dashboard/")).status_code


async def test_a_login_gives_a_session_and_never_the_token(app):
    async with browser(app, "http://nl.example", "192.168.1.9") as there:
        wrong = await there.post(
            "/dashboard/login", data={"token": "guess"}, headers=LOGIN | {"Origin": "http://nl.example"}
        )
        assert (401, None) == (wrong.status_code, wrong.headers.get("set-cookie"))
        right = await there.post(
            "/dashboard/login",
            data={"token": TOKEN, "next": "/dashboard/dead"},
            headers=LOGIN | {"Origin": "http://nl.example"},
        )
        assert (303, "/dashboard/dead") == (right.status_code, right.headers["location"])
        cookie = right.headers["set-cookie"]
        assert TOKEN not in cookie
        assert {"HttpOnly", "SameSite=strict", "Path=/dashboard"} <= set(cookie.split("; "))
        page = await there.get("/dashboard/")
        assert 200 == page.status_code
        out = await there.post(
            "/dashboard/logout", data={"stamp": stamp(page.text)}, headers=LOGIN | {"Origin": "http://nl.example"}
        )
        assert 303 == out.status_code
        assert 303 == (await there.get("/dashboard/")).status_code


@pytest.mark.parametrize("cookie", ["", "x", "9999999999.abc.def", "1.abc.def", "ü.ü.ü"])
async def test_a_made_up_session_opens_nothing(app, cookie):
    async with browser(app, "http://nl.example", "192.168.1.9") as there:
        headers = [(b"cookie", f"nextlevel_dashboard={cookie}".encode())]
        assert 303 == (await there.get("/dashboard/", headers=headers)).status_code


@pytest.mark.parametrize(
    "there", ["//evil.example/", "https://evil.example/", "/dashboard/..//evil", "/v1/status", "/dashboard/\\evil"]
)
async def test_after_a_login_nobody_is_sent_away(app, there):
    """A link with our name in it must not end at another's page."""
    async with browser(app, "http://nl.example", "192.168.1.9") as visitor:
        answer = await visitor.post(
            "/dashboard/login",
            data={"token": TOKEN, "next": there},
            headers=LOGIN | {"Origin": "http://nl.example"},
        )
        assert "/dashboard/" == answer.headers["location"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": HERE},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.example"},
    ],
)
async def test_what_changes_something_must_come_from_our_own_pages(here, nele, headers):
    """On this machine there is no login that another site's form would lack: the origin and the stamp stand for it."""
    block = await nele.tell("crm", "runs_on_port", "8080")
    address = f"/dashboard/memory/{nele.scope.profile_scope}/{block.id}/forget"
    signed = stamp((await here.get(address)).text)
    refused = await here.post(address, data={"stamp": signed}, headers=headers)
    assert 403 == refused.status_code
    assert 200 == (await here.get(address)).status_code


@pytest.mark.parametrize("made_up", ["", "1.a.b", "9999999999.a.b", "later"])
async def test_a_form_without_our_stamp_does_nothing(here, nele, made_up):
    block = await nele.tell("crm", "runs_on_port", "8080")
    address = f"/dashboard/memory/{nele.scope.profile_scope}/{block.id}/forget"
    assert 403 == (await here.post(address, data={"stamp": made_up}, headers=SAME_SITE)).status_code
    good = stamp((await here.get(address)).text)
    assert 303 == (await here.post(address, data={"stamp": good}, headers=SAME_SITE)).status_code
    assert 404 == (await here.get(address)).status_code


async def test_nothing_from_elsewhere_may_run_or_frame_a_page(here):
    """Also on what is not a page, and where something failed."""
    for address in ("/dashboard/", "/dashboard/nowhere", "/dashboard/static/dashboard.js", "/dashboard/turns/x:1"):
        headers = (await here.get(address)).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "nosniff" == headers["x-content-type-options"]
