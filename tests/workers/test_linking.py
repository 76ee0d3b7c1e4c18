"""What is said of "it", "she" and "the tests" lands on the right entity: whole turns, on real stores."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from nextlevel.model import EntityType, TurnState
from nextlevel.store import blocks, entities, merges, turns
from nextlevel.workers import stages
from nextlevel.workers.steps import apply
from nextlevel.workers.steps.found import Found
from nextlevel.workers.steps.link import Heard, link
from tests.support.builders import NOON, candidate, event


async def test_it_is_the_thing_that_was_named_last(bench):
    """A session goes on about one host; its facts must not end on "project", or on two entities."""
    await bench.remember(
        event("waldseilgarten-crm uses Postgres 16.", seq=1), event("It runs on port 8080.", seq=2, session="s1")
    )
    assert {"waldseilgarten-crm"} == {subject for subject, _, _ in await bench.facts()}


async def test_she_is_whom_the_turn_names_and_not_who_was_known_before(bench):
    """A new colleague's duties must not end on the one of whom we happen to know the name."""
    await bench.remember(
        event("flo does the frontend, his mail is flo@example.org", seq=1),
        event("ayla is the product owner on their side, she decides what goes into a release", seq=2),
    )
    subjects = {object_: subject for subject, _, object_ in await bench.facts()}
    assert ("ayla", "flo") == (subjects["decides what goes into a release"], subjects["flo@example.org"])


async def test_a_fact_of_somebody_who_is_not_named_is_left_out_visibly(bench):
    """Whoever "she" is, she is no Otto: no fact is better than one on the wrong person."""
    await bench.remember(
        event("Otto does the frontend of waldseilgarten-crm.", seq=1),
        event("my sister called. She works on the billing of waldseilgarten-crm now.", seq=2),
    )
    assert {"Otto"} == {subject for subject, _, _ in await bench.facts()}
    [left] = await bench.rows(
        "SELECT facts->'changes'->0->>'why' AS why FROM trace_events WHERE step = 'store' AND turn_id LIKE '%:2'"
    )
    assert "its subject is no name" == left["why"]


async def test_a_head_noun_means_the_one_entity_that_has_it(bench):
    await bench.remember(event("waldseilgarten-crm uses Postgres 16.", seq=1))
    await bench.remember(event("The CRM runs on port 8080.", seq=2, session="s2"))
    assert {"waldseilgarten-crm"} == {subject for subject, _, _ in await bench.facts()}


async def test_a_bare_noun_belongs_to_the_project_in_focus(bench):
    """Two projects alternate in one session: "the tests" are of the last one named, and neither replaces the other."""
    await bench.remember(
        event("waldseilgarten-crm uses Postgres 16.", seq=1),
        event("harbour-api uses Postgres 15.", seq=2),
        event("The tests run with -n 4.", seq=3),
        event("Back to waldseilgarten-crm: it uses Redis as well.", seq=4),
        event("The tests run with -n 8.", seq=5),
    )
    rows = await bench.rows("SELECT project, object FROM blocks WHERE status = 'active' AND object ~ '-n [48]'")
    assert {"harbour-api": "4", "waldseilgarten-crm": "8"} == {row["project"]: row["object"][-1] for row in rows}


async def test_a_bare_port_replaces_none_of_the_other_project(bench):
    """ "The port" is that of the project named last, and "here" too: each keeps the one that was last told of it."""
    await bench.remember(
        event("waldseilgarten-crm runs on port 8080.", seq=1),
        event("harbour-api runs on port 9090.", seq=2),
        event("The port is 9091 now.", seq=3),
        event("Back to waldseilgarten-crm. The port is 8081 now.", seq=4),
        event("harbour-api again. We use pnpm here, not npm.", seq=5),
    )
    held = await bench.rows("SELECT subject, value FROM blocks WHERE status = 'active' AND key = 'port'")
    assert {("harbour-api", "9091"), ("waldseilgarten-crm", "8081")} == {tuple(row) for row in held}
    [pnpm] = await bench.rows("SELECT project FROM blocks WHERE status = 'active' AND object = 'pnpm'")
    assert "harbour-api" == pnpm["project"]


async def test_of_two_people_of_one_name_neither_is_taken_and_a_person_decides(bench):
    """The fact waits in review, under a name of its own, and the turn's trace says between whom."""
    await bench.remember(
        event("Paul Kessler works on the billing.", seq=1),
        event("Paul Whitlow works on the wiring.", seq=2),
    )
    await bench.remember(event("Paul works from Leeds.", seq=3, session="s2"))
    [waiting] = await bench.rows("SELECT subject, status FROM blocks WHERE object LIKE '%Leeds%'")
    assert ("Paul", "review") == tuple(waiting)
    [traced] = await bench.rows(
        "SELECT facts->'may_be' AS doubts FROM trace_events WHERE step = 'link' AND turn_id LIKE '%:3'"
    )
    assert {"Paul": ["Paul Kessler", "Paul Whitlow"]} == json.loads(traced["doubts"])


async def test_a_declined_name_is_no_second_person(bench):
    await bench.remember(
        event("Florian Amsel arbeitet an waldseilgarten-crm.", seq=1),
        event("Herr Amsel arbeitet nur montags.", seq=2),
    )
    people = await bench.rows("SELECT name FROM entities WHERE type = 'person'")
    assert ["Florian Amsel"] == [row["name"] for row in people]


async def test_what_was_said_of_it_on_a_day_is_a_question_to_the_graph(bench):
    """session —discussed→ entity: with the words, and without the other days and things."""
    june = {"at": (NOON - timedelta(days=1)).isoformat(), "session": "earlier"}
    await bench.remember(replace(event("waldseilgarten-crm uses Postgres 16.", seq=1), **june))
    await bench.remember(
        event("waldseilgarten-crm runs on port 8080.", seq=2), event("harbour-api runs on port 9090.", seq=3)
    )
    scope = await bench.scope()
    async with bench.ctx.db.memory(scope) as conn:
        crm = await merges.find(conn, scope, "waldseilgarten-crm")
        said = await entities.discussed(conn, scope, crm, since=NOON, before=NOON + timedelta(days=1), limit=10)
    assert [("s1", "home:2", "waldseilgarten-crm runs on port 8080")] == [
        (each["session"], each["turn_id"], each["span"].rstrip(".")) for each in said
    ]


async def test_a_worker_learns_new_names_new_kinds_and_what_was_merged(bench):
    """It reads only what came since the last time; a merge makes it begin anew."""
    scope = await bench.scope()

    async def resolve(name: str, kind: EntityType):
        async with bench.ctx.db.memory(scope) as conn:
            await blocks.lock(conn, scope)
            return await entities.resolve(conn, scope, name, kind)

    async def known(name: str) -> list[tuple[str, EntityType]]:
        names = await stages.known_names(bench.ctx, scope)
        return [(each.name, each.type) for each in names.bearers(name)]

    await resolve("osprey", EntityType.TOPIC)
    assert [("osprey", EntityType.TOPIC)] == await known("osprey")
    kept = await resolve("osprey", EntityType.HOST)
    merged = await resolve("old osprey", EntityType.HOST)
    assert [("osprey", EntityType.HOST)] == await known("osprey")
    assert [("old osprey", EntityType.HOST)] == await known("old osprey")
    async with bench.ctx.db.memory(scope) as conn:
        await merges.merge(conn, scope, kept, merged)
    assert [("osprey", EntityType.HOST)] == await known("old osprey")


@pytest.mark.parametrize("name", ["x" * 10_000, "the", "  ", "?!"])
async def test_a_fact_about_what_is_no_name_is_left_out_and_the_rest_of_its_turn_is_kept(bench, name):
    """Whatever an extractor calls a subject: no turn ends half applied, and its trace says what was left out."""
    scope = await bench.scope()
    said = event("harbour-api runs on port 9090.", seq=1)
    await bench.tell(said)
    async with bench.ctx.db.pipeline() as conn:
        [ready] = await turns.ready(conn, TurnState.RECEIVED, limit=1, gap_wait_s=0)
        claim = await turns.claim(conn, ready.tenant_id, ready.id, TurnState.RECEIVED, ready.fence, lease_s=30)
    assert claim is not None
    good = candidate("harbour-api", "runs_on_port", "9090", span="harbour-api runs on port 9090")
    bad = candidate(name, "uses", "Postgres", span="harbour-api runs on port 9090", entities=())
    names = await stages.known_names(bench.ctx, scope)
    found = Found(tuple(link(each, names, Heard.of(claim.turn, [])) for each in (bad, good)))
    async with bench.ctx.db.memory(scope) as conn:
        await blocks.lock(conn, scope)
        applied = await apply.apply(conn, claim, found, apply.Embedded(), review_below=0.5)
    assert {("harbour-api", "runs_on_port", "9090")} == await bench.facts()
    assert ("dropped", "its subject is no name") in {(note["what"], note["why"]) for note in applied.notes}
