"""What a block says, in few words, and whether an entry says it already."""

from __future__ import annotations

import pytest

from nextlevel.model import BlockStatus, Provenance
from tests.producers.propose.conftest import fact, taste


@pytest.mark.parametrize(
    ("said", "entry"),
    [
        (taste("the helix editor"), "User prefers the helix editor"),
        (taste("emojis", "wants", negated=True), "User does not want: emojis"),
        (taste("Answers in German, please.", "noted"), "Answers in German, please."),
        (fact("user's role", "is", "lead developer"), "User's role is lead developer"),
        (fact("crm", "runs_on_port", "8080", project="crm"), "crm: runs on port 8080"),
        (fact("tests", "noted", "pytest -n 4 works", project="crm"), "crm, tests: pytest -n 4 works"),
        (fact("project", "is", "frozen in June", negated=True, project="crm"), "crm: is not: frozen in June"),
    ],
)
def test_an_entry_names_who_or_what_it_is_about(said, entry) -> None:
    """It stands in the prompt of every project, without the block's own fields beside it."""
    assert entry == said.sentence


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
def test_what_nobody_vouches_for_is_never_proposed(doubtful) -> None:
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
