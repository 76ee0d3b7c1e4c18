"""What a memory speaks of is how it is found again: by the person, the place or the project that its sentence names."""

from __future__ import annotations

from datetime import datetime

import pytest

from nextlevel.model import EntityType, Turn
from nextlevel.workers.steps.extract import extract

AT = datetime.fromisoformat("2026-05-12T09:00:00+02:00")


def _turn(text: str) -> Turn:
    return Turn("i:1", "s", 1, AT, text, "")


def _named(text: str, *earlier: str) -> list[set[str]]:
    found = extract(_turn(text), [_turn(each) for each in earlier])
    return [{name for name, _ in candidate.entities} for candidate in found.candidates]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the invoices run on port 8080 since Marlowe left for Bergen", "Bergen"),
        ("the fix for the api on port 8080 is OPS-4471", "OPS-4471"),
        ("the api on port 8080 is behind newCheckout", "newCheckout"),
        ("die API läuft auf Port 8080 und heißt intern „Specht“", "Specht"),
        ("usługa fakturowania działa na porcie 8080 u Grzegorza", "Grzegorza"),
    ],
)
def test_capitals_quotation_marks_and_tickets_show_a_name(text: str, name: str) -> None:
    assert any(name in each for each in _named(text))


@pytest.mark.parametrize(
    "text",
    [
        "the api on port 8080 must NEVER restart",
        "the api on port 8080 is down on Tuesdays",
        "the api on port 8080 is fine: The rest is not",
        "die API auf Port 8080 braucht einen Neustart",
    ],
)
def test_a_shout_a_weekday_and_a_german_noun_are_no_names(text: str) -> None:
    found = _named(text)
    assert found
    assert all({"NEVER", "Tuesdays", "The", "Neustart"}.isdisjoint(each) for each in found)


def test_a_fact_told_of_a_project_in_focus_speaks_of_it_and_a_preference_does_not() -> None:
    """Asked for the project, recall gives its facts; how somebody likes their tables has nothing to do with it."""
    facts = _named("the api runs on port 8080", "our app is called Quillmark")
    assert any("Quillmark" in each for each in facts)
    assert all("Quillmark" not in each for each in _named("i prefer compact tables", "our app is called Quillmark"))


def test_a_name_is_no_reason_to_keep_a_sentence() -> None:
    assert [] == _named("we had lunch at Bergen")


def test_a_sentence_that_lists_names_is_about_none_of_them() -> None:
    many = ", ".join(f"Visitor{chr(65 + n)}x" for n in range(20))
    assert all(len(each) < 12 for each in _named(f"the api runs on port 8080 for {many}"))


def test_a_name_of_open_kind_is_a_topic() -> None:
    found = extract(_turn("the invoices run on port 8080 since Marlowe left for Bergen"))
    assert ("Bergen", EntityType.TOPIC) in [each for candidate in found.candidates for each in candidate.entities]
