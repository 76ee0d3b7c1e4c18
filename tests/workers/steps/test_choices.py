"""A choice that is made again and again is a taste; a handful of guards keep chance out."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nextlevel.model import ToolCall, Turn
from nextlevel.workers.steps.choices import habits

START = datetime(2026, 6, 1, 9, tzinfo=UTC)


def turn(number: int, user: str, *, session: str = "s1", command: str = "", ok: bool = True) -> Turn:
    calls = (ToolCall("terminal", f'{{"command": "{command}"}}', ok=ok),) if command else ()
    return Turn(f"home:{number}", session, number, START + timedelta(hours=number), user, "Done.", calls)


SAID = [
    turn(1, "set the service up with poetry"),
    turn(2, "add httpx", command="poetry add httpx"),
    turn(3, "neues Projekt, mach es mit Poetry", session="s2"),
]


def test_three_turns_over_two_sessions_make_a_habit_with_all_of_them():
    [habit] = habits(SAID)
    assert ("python_packages", "poetry", 2) == (habit.group, habit.name, habit.sessions)
    assert ["home:1", "home:2", "home:3"] == [choice.turn for choice in habit.choices]
    assert "poetry add" in habit.choices[1].span


def test_two_projects_count_as_two_places():
    one_session = [replace(each, session="s1", meta={"project": f"p{n % 2}"}) for n, each in enumerate(SAID)]
    assert ["poetry"] == [habit.name for habit in habits(one_session)]


def test_nobody_is_surer_of_a_habit_than_of_a_word():
    """However often: 0.7 at most, since nobody has said it."""
    many = [turn(n, "use poetry for it", session=f"s{n}") for n in range(1, 60)]
    [habit] = habits(many)
    assert 0.7 == habit.confidence
    assert 0.6 == habits(SAID)[0].confidence


@pytest.mark.parametrize(
    "turns",
    [
        SAID[:2],
        [replace(each, session="s1") for each in SAID],
        [*SAID[:2], turn(3, "should I do it with poetry?", session="s2")],
        [*SAID[:2], turn(3, "not with poetry this time", session="s2")],
        [*SAID[:2], turn(3, "add it", session="s2", command="poetry add x", ok=False)],
        [*SAID[:2], turn(3, "compare it with poetry and with uv", session="s2", command="uv add x")],
        [*SAID, turn(4, "this one with uv", session="s3"), turn(5, "and use uv here", session="s3")],
        [*SAID, turn(4, "no, that's wrong, undo that", session="s2")],
        [turn(n, "poetry is a fine word", session=f"s{n}") for n in range(3)],
    ],
    ids=[
        "twice",
        "one session",
        "question",
        "negated",
        "failed",
        "rivals in a turn",
        "uses both",
        "rejected",
        "no choice",
    ],
)
def test_what_is_no_repeated_choice_makes_none(turns):
    assert [] == habits(turns)
