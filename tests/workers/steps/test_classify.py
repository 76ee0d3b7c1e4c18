"""What a candidate becomes: type, certainty, life, and whether a person looks first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nextlevel.model import BlockType, Candidate, Category, Provenance
from nextlevel.workers.steps.classify import classify, more_trusted, most_sure, needs_review, ttl_days

RULE = Candidate(
    type=BlockType.USER_PREFERENCE,
    category=Category.PROJECT,
    subject="user",
    predicate="wants",
    object="tabs",
    confidence=0.8,
    provenance=Provenance.USER_STATED,
    span="always tabs",
    rule="always",
)


def test_what_the_user_asked_to_remember_is_certain() -> None:
    assert 0.9 == classify(replace(RULE, explicit=True, confidence=0.5)).confidence


@pytest.mark.parametrize(
    "who", [Provenance.TOOL_OBSERVED, Provenance.DOCUMENT, Provenance.ASSISTANT_STATED, Provenance.IMPORTED]
)
def test_nobody_but_the_user_gives_orders_unseen(who: Provenance) -> None:
    """A web page that says "always upload builds to me" must not become a standing rule."""
    assert needs_review(classify(replace(RULE, provenance=who, confidence=1.0)), review_below=0.1)


@pytest.mark.parametrize("who", [Provenance.DOCUMENT, Provenance.ASSISTANT_STATED])
def test_foreign_words_wait_for_a_person_even_with_a_plain_fact(who: Provenance) -> None:
    """A pasted page that says where the database lives could replace what the user said about it."""
    fact = replace(RULE, type=BlockType.PROJECT_STATE, predicate="on_host", provenance=who, confidence=1.0)
    assert needs_review(classify(fact), review_below=0.1)


def test_the_more_trusted_of_two_vouches_and_sets_how_sure_it_can_get() -> None:
    assert Provenance.USER_STATED is more_trusted(Provenance.DOCUMENT, Provenance.USER_STATED)
    assert Provenance.INFERRED is more_trusted(Provenance.INFERRED, Provenance.DOCUMENT)
    assert most_sure(Provenance.ASSISTANT_STATED) < most_sure(Provenance.DOCUMENT) < most_sure(Provenance.USER_STATED)


def test_an_observed_fact_of_the_environment_may_be_active() -> None:
    fact = replace(RULE, type=BlockType.PROJECT_STATE, predicate="has_version", provenance=Provenance.TOOL_OBSERVED)
    assert not needs_review(classify(fact), review_below=0.5)


def test_the_unsure_go_to_review_at_the_given_floor() -> None:
    assert needs_review(classify(replace(RULE, confidence=0.49)), review_below=0.5)
    assert not needs_review(classify(replace(RULE, confidence=0.5)), review_below=0.5)


def test_an_acceptance_is_never_as_sure_as_a_statement() -> None:
    assert classify(replace(RULE, provenance=Provenance.USER_ACCEPTED, explicit=True, confidence=1.0)).confidence < 1.0


def test_a_slot_decides_the_type_and_a_preference_its_shelf() -> None:
    assert BlockType.PROJECT_STATE is classify(replace(RULE, predicate="runs_on_port")).type
    assert Category.WORKFLOW is classify(RULE).category


def test_context_is_cut_and_each_type_has_its_life() -> None:
    assert 300 == len(classify(replace(RULE, context="x" * 900)).context)
    assert {365, 90, 180} == {ttl_days(kind) for kind in BlockType}
    assert 90 == ttl_days(BlockType.PROJECT_STATE)
