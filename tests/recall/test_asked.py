"""What a question asks for, by its words."""

import pytest

from nextlevel.recall import asked


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who does the ops?", "who"),
        ("Wann ist die Abgabe?", "when"),
        ("var ligger databasen?", "where"),
        ("jak testujemy import?", "how"),
        ("which port is it?", None),
        ("install a package", None),
    ],
)
def test_a_question_word_tells_of_which_kind_the_answer_is(text, name):
    """In each of the four languages; what has no such word asks for nothing of a kind."""
    found = asked.kind(text)
    assert (None if found is None else found.name) == name


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("how did we fix the letters?", True),
        ("which table holds the orders?", True),
        ("how do I set up a python env?", False),
        ("can you write a comparison?", False),
        ("kannst du eine Liste machen?", False),
        ("write me a comparison", False),
    ],
)
def test_wanting_to_know_something_is_told_from_wanting_something_done(text, wants):
    """Standing rules are for what is to be done: a question about letters is no letter to be written."""
    assert asked.asks_for_a_fact(text) is wants


def test_a_kind_of_tool_stands_for_its_members():
    """Who asks for the linter asks for ruff, though nobody called it one."""
    assert {"ruff", "eslint"} <= asked.members("linter")
    assert not asked.members("ruff")


def test_a_question_that_was_asked_before_is_no_answer():
    """With or without its mark."""
    assert asked.is_question("wie wird das wetter morgen")
    assert not asked.is_question("what if we took graphql? no, rest stays")
    assert not asked.is_question("it runs on 8080")
