"""What recall showed comes back in the conversation, and is no evidence."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from nextlevel.model import Block, BlockStatus, BlockType, Category, Provenance, Turn
from nextlevel.recall import render
from nextlevel.workers.steps import echo
from tests.support.builders import candidate

NOW = datetime(2026, 6, 3, 12, tzinfo=UTC)
PORT = Block(
    id=uuid4(),
    scope_id=uuid4(),
    type=BlockType.PROJECT_STATE,
    category=Category.TECH_STACK,
    subject="waldseilgarten-crm",
    predicate="runs_on_port",
    object="8080",
    key="port",
    value="8080",
    context="",
    confidence=0.9,
    provenance=Provenance.USER_STATED,
    status=BlockStatus.ACTIVE,
    negated=False,
    explicit=False,
    project=None,
    created_at=NOW,
    valid_from=datetime(2025, 5, 12, tzinfo=UTC),
    valid_to=datetime(2026, 9, 1, tzinfo=UTC),
    superseded_by=None,
)
TABLES = replace(PORT, id=uuid4(), subject="user", predicate="wants", object="compact tables with │ separators")
LINE = render.line(PORT, now=NOW)


def turn(user: str, assistant: str = "") -> Turn:
    return Turn("home:1", "s1", 1, NOW, user, assistant)


@pytest.mark.parametrize("pasted", [f"- {LINE}", f"> - {LINE}", f"• {LINE}", LINE])
def test_a_pasted_line_of_recall_is_cut_out_and_the_users_own_words_stay(pasted):
    """The line is what recall itself writes, with dates and all."""
    read, lines = echo.without_pasted(turn(f"you said\n{pasted}\nwhere is the config?"), [PORT])
    assert ("you said\nwhere is the config?", 1) == (read.user_text, lines)


def test_an_injected_item_is_known_even_in_another_session():
    """Yesterday's context, pasted today: nothing was shown here, but its form tells."""
    assert ("", 1) == (lambda found: (found[0].user_text, found[1]))(echo.without_pasted(turn(f"- {LINE}"), []))


@pytest.mark.parametrize(
    "own",
    [
        "waldseilgarten-crm runs on port 8080",
        "Anna: works in sales (since 3 May)",
        "- buy milk (since 1990)",
        "note: the crm moved (since May it is slow)",
    ],
)
def test_the_users_own_words_are_left_alone(own):
    assert (turn(own), 0) == echo.without_pasted(turn(own), [])


@pytest.mark.parametrize(
    ("said", "used"),
    [
        ("It runs on port 8080, as before.", [PORT.id]),
        ("Here is a compact table with │ as separators.", [TABLES.id]),
        ("I have no idea.", []),
        ("The tables are in the annex. They are compact.", []),
    ],
)
def test_an_answer_that_says_what_a_block_says_makes_use_of_it(said, used):
    assert used == list(echo.restated(turn("?", said), [PORT, TABLES]))


def test_the_assistants_paraphrase_of_what_it_was_shown_is_an_echo():
    """Other words, same thing: a model may take it for a finding."""
    said = candidate(object_="the usual one, eighty-eighty", provenance=Provenance.ASSISTANT_STATED)
    assert echo.is_echo(said, [PORT])
    assert echo.is_echo(replace(said, subject="the CRM", object="port 8080"), [PORT])
    assert not echo.is_echo(replace(said, subject="the printer", object="out of paper"), [PORT])
    assert not echo.is_echo(replace(said, provenance=Provenance.USER_STATED), [PORT])
