"""What nobody typed must not hold up what somebody did: every message ends, and the trace says what was not read."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bench import hostile
from nextlevel.model import Turn
from nextlevel.workers.steps import prefilter
from nextlevel.workers.steps.extract import extract
from nextlevel.workers.steps.extract.rules.engine import LONGEST_HEAD, LONGEST_TAIL, MOST_CANDIDATES

AT = datetime(2026, 5, 12, tzinfo=UTC)
MESSAGES = list(hostile.messages(seed=7, size=hostile.MIB))


def _turn(user: str, assistant: str = "") -> Turn:
    return Turn("i:1", "s", 1, AT, user, assistant)


@pytest.mark.timeout(30)  # a pattern that backtracks takes hours for one of these, not a second more
@pytest.mark.parametrize(("name", "text"), MESSAGES, ids=[name for name, _ in MESSAGES])
def test_a_message_that_nobody_typed_is_read_all_the_same(name: str, text: str) -> None:
    """No pattern may walk a text again and again: one such message would stop a worker for good."""
    prefilter.score(_turn(text))
    found = extract(_turn(text))
    assert len(found.candidates) <= MOST_CANDIDATES
    assert any(each.why in ("too_long", "dump") for each in found.dropped), "a MiB is not read, and that must be told"
    extract(_turn("yes, do that"), [_turn("and now?", text)])


def test_the_head_and_the_end_of_a_long_paste_are_read_and_the_trace_says_what_was_not() -> None:
    """People paste first and say what it is for afterwards, or the other way round."""
    noise = "lorem ipsum dolor sit amet\n" * 1_000
    text = f"the broker runs on port 8080.\n{noise}the relay runs on port 8090."
    found = extract(_turn(text))
    assert {"8080", "8090"} == {each.value for each in found.candidates}
    cut = len(text) - LONGEST_HEAD - LONGEST_TAIL
    assert f"{cut} characters of {len(text)}" in [each.text for each in found.dropped if each.why == "too_long"]
    assert all(each.span in text for each in found.candidates)
