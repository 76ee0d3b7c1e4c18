"""What a block says, in few words, and whether an entry says it already."""

from __future__ import annotations

import pytest

from nextlevel.model import BlockStatus, Category, Provenance
from nextlevel.producers.propose.facts import Fact
from tests.producers.propose.conftest import fact, taste, told


@pytest.mark.parametrize(
    ("said", "entry"),
    [
        (taste("the helix editor"), "User prefers the helix editor"),
        (taste("ask before you deploy", "wants"), "User wants: ask before you deploy"),
        (taste("emojis", "wants", negated=True), "User does not want: emojis"),
        (taste("Answers in German, please.", "noted"), "Answers in German, please."),
        (fact("user's role", "is", "lead developer"), "User's role is lead developer"),
        (fact("crm", "runs_on_port", "8080", project="crm"), "crm: runs on port 8080"),
        (fact("tests", "noted", "pytest -n 4 works", project="crm"), "crm, tests: pytest -n 4 works"),
        (fact("project", "is", "frozen", negated=True, project="crm"), "crm: is not: frozen"),
        (fact("falke", "has_role", "the runner"), "falke: has role the runner"),
    ],
)
def test_an_entry_names_who_or_what_it_is_about(said: Fact, entry: str) -> None:
    """It stands in the prompt of every project, without the block's own fields beside it."""
    assert entry == said.sentence


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        ("migrations need --skip-seed here", "crm: migrations need --skip-seed here"),
        ("in the crm, migrations need --skip-seed", "in the crm, migrations need --skip-seed"),
        ("they need --skip-seed", "crm, migrations: needs --skip-seed"),
        ("my migrations need --skip-seed", "crm, migrations: needs --skip-seed"),
        ("migrations need --skip-seed until June", "crm, migrations: needs --skip-seed"),
        ("migrations don't need --skip-seed", "crm, migrations: needs --skip-seed"),
        (
            "migrations need --skip-seed, and call Nele about the billing of the shop and its new printer",
            "crm, migrations: needs --skip-seed",
        ),
    ],
)
def test_a_note_is_told_in_the_words_of_who_said_it(words: str, entry: str) -> None:
    """Where they name all of it and no more, and would be right in the agent's own notes."""
    said = fact("migrations", "needs", "--skip-seed", project="crm", sources=(told(1), told(2, words)))
    assert entry == said.sentence


def test_what_is_wanted_in_one_project_says_so() -> None:
    """ "No redis" was a decision there; how tables look, what was asked for and what comes again holds everywhere."""
    once = {"project": "crm", "sources": (told(1),)}
    assert "User prefers poetry (in crm)" == taste("poetry", **once).sentence
    assert "User prefers poetry" == taste("poetry", project="crm").sentence
    assert "User prefers poetry" == taste("poetry", explicit=True, **once).sentence
    assert "User prefers short tables" == taste("short tables", category=Category.FORMATTING, **once).sentence
    assert "User prefers German here (in crm)" == taste("German here", category=Category.FORMATTING, **once).sentence


@pytest.mark.parametrize(
    "doubtful",
    [
        taste("emojis", provenance=Provenance.DOCUMENT),
        taste("emojis", provenance=Provenance.IMPORTED),
        taste("emojis", provenance=Provenance.ASSISTANT_STATED),
        taste("emojis", provenance=Provenance.TOOL_OBSERVED),
        taste("emojis", status=BlockStatus.REVIEW),
        taste("emojis", status=BlockStatus.SUPERSEDED),
        taste("emojis", confidence=0.6),
        taste("emojis", ends=True),
    ],
)
def test_what_nobody_vouches_for_is_never_proposed(doubtful: Fact) -> None:
    """A pasted text must not reach the one place that every prompt holds."""
    assert not doubtful.may_be_proposed
    assert taste("poetry", provenance=Provenance.INFERRED, confidence=0.6).may_be_proposed


def test_the_part_that_says_it_is_found() -> None:
    """And neither what merely shares a word, nor the contrary."""
    port = fact("CI", "runs_on_port", "8080", key="port", value="8080")
    assert "CI runs on port 8080." == port.part_of("CI runs on port 8080. Deploys are on Thursdays.")
    assert port.part_of("CI was broken on 12 May by a change of the proxy, 8080 connections were open then") is None
    assert port.part_of("CI never runs on port 8080.") is None
    assert taste("poetry").part_of("poetry lock breaks the build on the old runner") is None
