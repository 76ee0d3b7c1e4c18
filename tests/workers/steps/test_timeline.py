"""The same facts leave the same memory, in whatever order they arrive."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from nextlevel.model import Candidate
from nextlevel.store import blocks, turns
from nextlevel.workers.steps import apply
from nextlevel.workers.steps.found import Found
from tests.support.builders import NOON, candidate, event, scope

_people = itertools.count(1)
PORT_8080 = candidate(object_="8080", key="port", value="8080")
PORT_8091 = candidate(object_="8091", key="port", value="8091")
BEHIND_CADDY = candidate(object_="8091 behind Caddy", key="port", value="8091")
USES_REDIS = candidate(predicate="uses", object_="Redis")
NOT_8080 = "waldseilgarten-crm runs on port 8080"
NOT_8091 = "waldseilgarten-crm runs on port 8091"
COPIES_ON_OSPREY = candidate("the copies", "are_kept_on", "osprey, the old one", key=None)
COPIES_ON_TAPE = candidate("the copies", "are_kept_on", "tape", key=None)
NOT_ON_TAPE = "the copies are kept on tape"


async def state(bench, told: Sequence[tuple[int, Candidate | str]]) -> set[tuple[Any, ...]]:
    """What holds when, after facts were told and others taken back (as text) at the days given, in the order given, by
    somebody of their own."""
    who = f"telegram:{next(_people)}"
    person = await scope(bench.ctx.db, principal=who)
    for day, said in told:
        found = Found((), (said,)) if isinstance(said, str) else Found((said,))
        told_in = replace(
            event(str(said), principal=who), session=f"{who} {day}", at=(NOON + timedelta(days=day)).isoformat()
        )
        async with bench.ctx.db.pipeline() as conn:
            await turns.receive(conn, told_in, person)
        turn = SimpleNamespace(id=told_in.id, session=told_in.session, at=NOON + timedelta(days=day), meta={})
        claim: Any = SimpleNamespace(scope=person, turn=turn, kind="turn")
        async with bench.ctx.db.memory(person) as conn:
            await blocks.lock(conn, person)
            await apply.apply(conn, claim, found, apply.Embedded(), review_below=0.5)
    rows = await bench.rows(
        "SELECT coalesce(value, object), status, valid_from, valid_to FROM blocks "
        "WHERE scope_id = $1 AND valid_from IS DISTINCT FROM valid_to",
        person.profile_scope,
    )
    return {tuple(row) for row in rows}


@pytest.mark.parametrize(
    "told",
    [
        [PORT_8080, PORT_8091, PORT_8080],
        [PORT_8080, PORT_8080, PORT_8091],
        [PORT_8091, BEHIND_CADDY, PORT_8080, USES_REDIS],
    ],
    ids=["there and back", "twice, then changed", "more exact, then changed, beside another fact"],
)
async def test_every_order_of_arrival_leaves_what_the_order_of_telling_leaves(bench, told):
    """An import of last month's talk after today's must not bring an old port back, nor lose a spell."""
    by_day = list(enumerate(told))
    in_order = await state(bench, by_day)
    assert 1 == sum(value in ("8080", "8091") and end is None for value, _, _, end in in_order)
    for order in itertools.permutations(by_day):
        assert in_order == await state(bench, order), [f"{day}: {fact.object}" for day, fact in order]


@pytest.mark.parametrize(
    "told",
    [
        [PORT_8080, NOT_8080],
        [PORT_8080, NOT_8080, PORT_8080, PORT_8091],
        [PORT_8080, PORT_8091, NOT_8091, PORT_8080],
        [PORT_8080, NOT_8080, NOT_8080],
        [PORT_8091, BEHIND_CADDY, NOT_8091],
        [BEHIND_CADDY, NOT_8091, PORT_8091, NOT_8091],
        [COPIES_ON_OSPREY, COPIES_ON_TAPE, NOT_ON_TAPE, COPIES_ON_OSPREY],
    ],
    ids=[
        "a fact",
        "and told again",
        "what had replaced",
        "twice",
        "the more exact",
        "and again what was told less exactly",
        "the one that fits better",
    ],
)
async def test_what_is_taken_back_is_so_in_every_order_of_arrival(bench, told):
    """An import that brings a fact after its denial must not believe it; nor lose what was told again since."""
    by_day = list(enumerate(told))
    in_order = await state(bench, by_day)
    assert any(status == "expired" for _, status, *_ in in_order)
    for order in itertools.permutations(by_day):
        assert in_order == await state(bench, order), [f"{day}: {said}" for day, said in order]


async def test_a_denial_ends_nothing_that_shares_only_its_subject(bench):
    """Said twice, the second "no longer" must not take the next fact about the same project with it."""
    left = await state(
        bench, [(0, PORT_8080), (1, USES_REDIS), (2, NOT_8080), (3, "waldseilgarten-crm runs on a port")]
    )
    assert {"Redis"} == {value for value, status, *_ in left if status == "active"}


async def test_what_was_told_longest_ago_and_comes_last_is_history(bench):
    told = [(5, PORT_8091), (9, PORT_8091), (2, PORT_8080)]
    assert {
        ("8080", "superseded", NOON + timedelta(days=2), NOON + timedelta(days=5)),
        ("8091", "active", NOON + timedelta(days=5), None),
    } == await state(bench, told)


async def test_what_is_said_to_have_held_earlier_closes_what_was_told_before(bench):
    """Who says today that it has been so since Monday knows better than what was told on Tuesday."""
    since_monday = replace(PORT_8091, valid_from=NOON)
    assert {("8091", "active", NOON, None)} == await state(bench, [(1, PORT_8080), (3, since_monday)])


async def test_what_is_said_of_a_project_that_nobody_named_closes_nothing_of_another_session(bench):
    """Two projects that were never named are two, however alike what is said of them."""
    told = [(day, replace(fact, subject="project", entities=())) for day, fact in enumerate((PORT_8080, PORT_8091))]
    assert {"8080", "8091"} == {value for value, status, *_ in await state(bench, told) if status == "active"}


async def test_a_projects_facts_are_never_closed_by_anothers(bench):
    """Two projects alternate in one afternoon; each keeps its own port."""
    ports = [("crm", "8080"), ("shop", "9000"), ("crm", "8081"), ("shop", "9001"), ("crm", "8082")]
    told = [
        (day, candidate("the service", object_=port, key="port", value=port, project=project))
        for day, (project, port) in enumerate(ports)
    ]
    left = await state(bench, told)
    assert {"8082", "9001"} == {value for value, status, *_ in left if status == "active"}
    assert 5 == len(left)
