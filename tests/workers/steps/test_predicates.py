"""What a predicate's name means is the same for every step."""

from __future__ import annotations

import pytest

from nextlevel.workers.steps import predicates


@pytest.mark.parametrize(
    "name",
    [
        "runs_on_port",
        "uses_database",
        "on_branch",
        "has_version",
        "deadline",
        "located_at",
        "default_editor",
        "timezone",
    ],
)
def test_a_slot_holds_one_value_at_a_time(name: str) -> None:
    """The port of today closes the port of yesterday; without this both would be recalled."""
    assert "one" == predicates.cardinality(name)
    assert predicates.get(name).key


@pytest.mark.parametrize("name", ["uses", "knows", "is", "wants", "never_heard_of"])
def test_what_may_hold_many_values_closes_nothing(name: str) -> None:
    assert "many" == predicates.cardinality(name)


@pytest.mark.parametrize("language", ["en", "de", "sv", "pl", "zh", "ja"])
def test_a_phrase_of_each_language_leads_to_a_known_predicate(language: str) -> None:
    said = predicates.phrases(language)
    assert said
    assert all(name == predicates.get(name).name and phrase == phrase.casefold() for phrase, name in said.items())


def test_an_unknown_language_says_nothing() -> None:
    assert {} == predicates.phrases("xx")


def test_a_relation_read_from_its_other_end_has_a_name() -> None:
    """Who leads a thing is responsible for it: the two are one fact, whichever way round it is told."""
    both = [(name, known.inverse) for name in predicates.names() if (known := predicates.get(name)).inverse]
    assert {("led_by", "responsible_for"), ("responsible_for", "led_by")} <= set(both)
