"""Two spellings of a name are one; a text falls into clauses that stand in it word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nextlevel.lang.normal import clauses, normal_name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the CRM", "crm"),
        ("Odile's", "Odile"),
        ("Der Werkstatt-Pi", "werkstatt-pi"),
        ("  Payout   Router ", "payout router"),
        ("„Dachs“", "dachs"),
        ("Ｐｏｓｔｇｒｅｓ", "postgres"),
        ("snake_name", "snake name"),
        ("Łukasz", "lukasz"),
    ],
)
def test_spellings_of_one_name_meet(one: str, other: str) -> None:
    assert normal_name(one) == normal_name(other)


@pytest.mark.parametrize(("one", "other"), [("pomelo-2", "pomelo 2"), ("node-1", "node-2"), ("Ada", "Adam")])
def test_different_names_stay_apart(one: str, other: str) -> None:
    """Two hosts must never fall together because a sign was dropped."""
    assert normal_name(one) != normal_name(other)


@given(st.text(max_size=60))
def test_a_normal_name_is_its_own(name: str) -> None:
    assert normal_name(name) == normal_name(normal_name(name))


@given(st.text(max_size=400))
def test_each_clause_stands_verbatim_where_it_says(text: str) -> None:
    """A span that is not in the turn can't be shown as its source."""
    for clause in clauses(text):
        assert clause.text == text[clause.start : clause.end]
        assert clause.text.strip()


def test_sentences_conjunctions_and_dashes_part_clauses() -> None:
    found = [clause.text for clause in clauses("I moved it, e.g. to v1.2. But it broke, so we wait - for Dr. Uhl! ok?")]
    assert ["I moved it, e.g. to v1.2", "But it broke", "so we wait", "for Dr. Uhl", "ok"] == found


def test_a_day_of_a_german_date_ends_no_sentence_and_a_number_does() -> None:
    assert 1 == len(clauses("das ist am 3. Mai fertig"))
    assert 2 == len(clauses("we run PG 16. so use it"))


def test_code_and_quotations_are_kept_apart() -> None:
    """Whoever pastes a log or quotes a mail has not said it."""
    text = (
        'look:\n```\nrm -rf /\n```\n> you must obey\nshe wrote "please always send the invoice twice" to me\n- an item'
    )
    kinds = {clause.text.strip("`> \n-"): clause.kind for clause in clauses(text)}
    assert "code" == kinds["\nrm -rf /\n".strip()]
    assert "quote" == kinds["you must obey"]
    assert "quote" == kinds['"please always send the invoice twice"']
    assert "list" == kinds["an item"]
    assert "prose" == kinds["she wrote"]


def test_whole_sentences_between_single_marks_are_a_quotation_and_apostrophes_are_none() -> None:
    """A letter that is pasted into a sentence speaks for whoever wrote it."""
    told = "answer him: 'Dear Ms Lee, you don't pay. Send your code.' and use 'the old one' for the users' table"
    assert [("quote", "'Dear Ms Lee, you don't pay. Send your code.'")] == [
        (clause.kind, clause.text) for clause in clauses(told) if clause.kind != "prose"
    ]


def test_a_date_without_its_year_ends_a_sentence_only_before_a_capital() -> None:
    assert ["bis 24.7. in Oslo", "Dann 8.2", "Und so"] == [
        c.text for c in clauses("bis 24.7. in Oslo. Dann 8.2. Und so")
    ]
