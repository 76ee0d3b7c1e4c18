"""What the agent did counts as accepted, unless the user's next words reject it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from nextlevel.model import Turn
from nextlevel.workers.steps.rejection import only_rejects, rejected

BEFORE = Turn("home:1", "s1", 1, datetime(2026, 6, 3, 12, tzinfo=UTC), "deploy it", "Done.")


def _says(text: str) -> Turn:
    return replace(BEFORE, id="home:2", ordinal=2, user_text=text)


@pytest.mark.parametrize(
    "text",
    [
        "No, that's wrong, undo that.",
        "undo that please",
        "can you revert your changes?",
        "That didn't work, still a 500.",
        "Hm. That's not what I asked for.",
        "Nein, das ist falsch.",
        "Mach das bitte wieder rückgängig!",
        "das hat nicht geklappt",
        "Nej, det är fel",
        "Nie, to źle. Cofnij to.",
        "不对，请撤销",
        "違う、元に戻して",
    ],
)
def test_a_rejection_names_the_turn_before(text):
    assert "home:1" == rejected(_says(text), [BEFORE])


@pytest.mark.parametrize(
    "text",
    [
        "Great, that works. Now the docs.",
        "if that's wrong, tell me",
        "wenn das falsch ist, sag Bescheid",
        "Is that wrong?",
        "No, use pnpm instead of npm.",
        "The port in the docs is wrong, it should be 8091",
        "Undo that commit from yesterday's branch",
        "What would undo that?",
        "> that's wrong\nwas what he wrote",
    ],
)
def test_other_words_reject_nothing(text):
    """Taking a procedure back for a careless "wrong" would lose what was learnt."""
    assert rejected(_says(text), [BEFORE]) is None


def test_a_rejection_that_goes_on_to_say_what_is_right_still_says_it():
    """Words that only reject are no memory; "that's wrong, the port is 8091" holds one."""
    assert only_rejects("that's wrong, undo that")
    assert only_rejects("das ist falsch")
    assert not only_rejects("that's wrong, the port is 8091")
    assert not only_rejects("that didn't work because the proxy was down")


def test_the_first_turn_of_a_session_has_nothing_to_reject():
    assert rejected(_says("No, that's wrong"), []) is None
