"""What is asked to be remembered is kept as the kind of thing it is, and is the user's where nothing else is named."""

from __future__ import annotations

from datetime import datetime

import pytest

from nextlevel.model import BlockType, Turn
from nextlevel.workers.steps import explicit


def _kept(text: str, **body: object) -> list[tuple[BlockType, str, str]]:
    turn = Turn("i:1", "s", 0, datetime.fromisoformat("2026-05-12T09:00:00+02:00"), text, "")
    found, refused = explicit.candidates(turn, body)
    assert refused is None
    assert all(each.explicit for each in found)
    return [(each.type, each.subject, each.predicate) for each in found]


@pytest.mark.parametrize("text", ["I prefer tabs", "I prefer tabs over spaces", "prefers tabs"])
def test_a_preference_is_the_users_whatever_project_it_was_said_in(text: str) -> None:
    wanted = [(BlockType.USER_PREFERENCE, "user", "prefers")]
    assert wanted == _kept(text)
    assert wanted == _kept(text, project="quillmark")


def test_a_taste_that_is_kept_as_said_is_a_preference_still() -> None:
    assert [(BlockType.USER_PREFERENCE, "user", "noted")] == _kept("I hate small print", project="quillmark")


def test_what_nobody_understands_is_the_projects_where_one_is_told_else_the_users() -> None:
    said = "the spare key is under the mat at Odile's"
    assert ["user"] == [subject for _, subject, _ in _kept(said)]
    assert ["quillmark"] == [subject for _, subject, _ in _kept(said, project="quillmark")]
