"""The tree "is it worth remembering?": the first branch that fits decides."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nextlevel.model import BlockType, Category
from nextlevel.workers.steps.worth import Branch, Shelf, judge, of_drop
from tests.support.builders import candidate

SAID_AT = datetime(2026, 6, 3, 12, tzinfo=UTC)
PATTERN = {"type": BlockType.LEARNED_PATTERN, "category": Category.PROJECT}
PERSON = {"type": BlockType.ENTITY_RELATIONSHIP, "category": Category.CONTACT}


@pytest.mark.parametrize(
    ("told", "branch", "shelf"),
    [
        (candidate(corrects=True), Branch.CORRECTION_OR_INSTRUCTION, Shelf.NOTE),
        (
            candidate("Python", "is", "a language", explicit=True, **PATTERN),
            Branch.CORRECTION_OR_INSTRUCTION,
            Shelf.NOTE,
        ),
        (
            candidate("user", "wants", "compact tables", type=BlockType.USER_PREFERENCE),
            Branch.PREFERENCE_OR_PATTERN,
            Shelf.PROFILE,
        ),
        (candidate("user", "has_role", "backend lead", **PERSON), Branch.PREFERENCE_OR_PATTERN, Shelf.PROFILE),
        (candidate(key="port", value="8080"), Branch.ENVIRONMENT_OR_CONVENTION, Shelf.NOTE),
        (candidate("releases", "goes_to", "main only", **PATTERN), Branch.ENVIRONMENT_OR_CONVENTION, Shelf.NOTE),
        (
            candidate("release", "done_by", "build; tag", type=BlockType.PROCEDURAL),
            Branch.ENVIRONMENT_OR_CONVENTION,
            Shelf.NOTE,
        ),
        (
            candidate("Postgres", "is", "a relational database", span="Postgres is a relational database", **PATTERN),
            Branch.EASILY_FOUND,
            None,
        ),
        (
            candidate("Postgres", "is", "our only store", span="Postgres is our only store", **PATTERN),
            Branch.ELSE,
            Shelf.NOTE,
        ),
        (
            candidate("Postgres", "is", "broken on birch-2", span="Postgres is broken on birch-2", **PATTERN),
            Branch.ELSE,
            Shelf.NOTE,
        ),
        (candidate("dump", "noted", "it lies in /tmp/dump.sql", **PATTERN), Branch.THIS_SESSION, None),
        (
            candidate("kitchen", "is", "closed", span="the kitchen is closed for the moment", **PATTERN),
            Branch.THIS_SESSION,
            None,
        ),
        (candidate("Anna", "is", "Flo's sister", **PERSON), Branch.ELSE, Shelf.NOTE),
    ],
    ids=lambda value: getattr(value, "object", None),
)
def test_the_first_branch_that_fits_decides(told, branch, shelf):
    judgement = judge(told, SAID_AT)
    assert (branch, shelf) == (judgement.branch, judgement.shelf)


def test_what_holds_until_tonight_matters_in_this_session_only():
    """Tomorrow nobody needs it; but what ends on a later day, or ended on an earlier one, does matter."""
    told = candidate("kitchen", "is", "closed", span="the kitchen is closed today", **PATTERN)
    tonight = SAID_AT.replace(hour=23)
    assert Branch.THIS_SESSION == judge(replace(told, valid_to=tonight), SAID_AT).branch
    for other in (tonight + timedelta(days=3), tonight - timedelta(days=30)):
        assert Branch.ELSE == judge(replace(told, valid_to=other), SAID_AT).branch


@pytest.mark.parametrize(
    ("why", "branch"),
    [
        ("dump", Branch.EASILY_FOUND),
        ("one_off", Branch.THIS_SESSION),
        ("secret", Branch.NEVER),
        ("injection", Branch.NEVER),
        ("question", Branch.NOT_STATED),
        ("echo", Branch.NOT_STATED),
        ("ungrounded: nobody said '8091'", Branch.NOT_STATED),
    ],
)
def test_what_was_dropped_before_the_tree_has_its_branch_too(why, branch):
    assert branch is of_drop(why)
