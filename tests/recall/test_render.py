"""The lines that a model reads."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nextlevel.recall.render import context, line
from nextlevel.safety.markers import HEADER
from tests.recall.test_rank import NOW, candidate

PORT = candidate("waldseilgarten-crm", "runs_on_port", "8080", valid_from=datetime(2026, 5, 12, tzinfo=UTC))
BLOCK = PORT.entry.found.block


def test_a_line_says_of_what_what_and_since_when():
    assert line(BLOCK, now=NOW) == "waldseilgarten-crm: runs on port 8080 (since 12 May)"


def test_another_year_is_named():
    """ "Since 12 May" read in the next year would be wrong."""
    assert line(BLOCK, now=NOW.replace(year=2027)).endswith("(since 12 May 2026)")


def test_an_end_is_told_where_it_lies_ahead_or_the_past_is_asked_for():
    over = replace(BLOCK, valid_to=NOW - timedelta(days=5))
    ahead = replace(BLOCK, valid_to=NOW + timedelta(days=5))
    assert line(over, now=NOW, as_of=NOW - timedelta(days=9)).endswith("(since 12 May, until 10 Jun)")
    assert line(ahead, now=NOW).endswith("(since 12 May, until 20 Jun)")


def test_what_is_denied_stays_denied():
    """Dropping the "not" turns a memory into its opposite."""
    assert "not: emojis" in line(replace(BLOCK, predicate="wants", object="emojis", negated=True), now=NOW)


def test_the_context_says_why_it_matters_unless_it_says_the_same():
    assert "; the proxy expects it" in line(replace(BLOCK, context="the proxy expects it"), now=NOW)
    for same in ("runs on port 8080", "note: the waldseilgarten-crm now runs on port 8080!"):
        assert "; " not in line(replace(BLOCK, context=same), now=NOW)


def test_nothing_to_say_is_no_text():
    """A header over nothing would tell the model that there is something."""
    assert context([], 400) == ("", set())


def test_the_best_lines_that_fit_go_in_once():
    """A long line must not keep shorter ones out that come after it."""
    text, taken = context(["short", "long " * 400, "short", "also short"], 100)
    assert text == f"{HEADER}\n- short\n- also short"
    assert taken == {"short", "also short"}
