"""Small talk and dumps stop before anything is paid for; what was asked to be kept always passes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from nextlevel.model import ToolCall, Turn
from nextlevel.workers.steps.extract import extract
from nextlevel.workers.steps.prefilter import left_open, score

AT = datetime.fromisoformat("2026-05-12T09:00:00+02:00")


def _turn(text: str, *tools: ToolCall) -> Turn:
    return Turn("i:1", "s", 1, AT, text, "ok", tools)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("remember that we ship on Mondays", "explicit"),
        ("merk dir: Releases nur montags", "explicit"),
        ("the api listens on port 8080", "code"),
        ("always answer in short sentences", "preference"),
        ("bitte nie Emojis", "preference"),
        ("Ms Okafor handles invoices for us", "project"),
        ("actually forget that", "retraction"),
    ],
)
def test_what_promises_something_passes_with_its_reason(text: str, reason: str) -> None:
    found = score(_turn(text))
    assert found.passes
    assert reason in found.reasons


@pytest.mark.parametrize("text", ["hi", "good morning!", "thanks", "ok", "danke dir", "lol", "", "👍"])
def test_small_talk_stops(text: str) -> None:
    found = score(_turn(text))
    assert not found.passes
    assert ("chitchat",) == found.reasons


def test_a_bare_log_stops_whatever_is_in_it() -> None:
    log = "\n".join(f"2026-05-12 09:{n:02}:00 ERROR port 8080 refused always" for n in range(20))
    assert ("dump",) == score(_turn(log)).reasons
    assert not score(_turn(log)).passes


def test_a_task_of_many_calls_passes_though_little_was_said() -> None:
    """The agent's own steps are what is worth keeping there."""
    assert ("workflow",) == score(_turn("go", *(ToolCall("terminal", f"step {n}") for n in range(5)))).reasons


def test_a_yes_to_a_proposal_passes() -> None:
    """It says little by itself, and makes the assistant's words the user's own."""
    assert score(_turn("yes, do that")).passes
    assert score(_turn("ja, mach das so")).passes


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Ragna swears by the blue one in Tromsø", "unread"),
        ("the loom room is where everybody ends up after lunch", "unread"),
        ("the tape robot hums near Graz, port 5900 for VNC", "half read"),
        ("rename the labels, lowercase and no abbreviations", "may be a rule"),
        ("when the glaze room opens we fire first and pack last", "may be no question"),
    ],
)
def test_what_the_rules_leave_open_is_worth_a_model(text: str, why: str) -> None:
    """A model is paid by the turn: the trace says for what."""
    found = left_open(_turn(text), extract(_turn(text)))
    assert any(each.startswith(f"{why}: ") for each in found), found


@pytest.mark.parametrize(
    "text",
    [
        "the api listens on port 8080",
        "which port does the api use?",
        "we could move the 40 customers to Kafka some day",
        "my aunt prefers the blue one",
        "that went well",
        "fix the typo in the header",
    ],
)
def test_what_the_rules_read_or_rightly_passed_over_is_not_asked_again(text: str) -> None:
    assert () == left_open(_turn(text), extract(_turn(text)))


def test_what_a_paste_leaves_open_is_told_in_brief() -> None:
    long = _turn("\n".join(f"the Lindqvist shelf number {n} wobbles near the door of the hall" for n in range(200)))
    found = left_open(long, extract(long))
    assert 0 < len(found) <= 20
    assert all(len(each) < 120 for each in found)


@pytest.mark.parametrize(
    ("middle", "open_"),
    [
        ("Ragna keeps the blue loom of the weaving shed for herself. ", True),
        ("thanks, that went well. ", False),
        ("2026-05-03 12:00:01 INFO worker 7 has taken job 1234 of queue bulk\n", False),
    ],
)
def test_prose_in_the_middle_of_a_message_too_long_for_the_rules_is_left_open(middle: str, open_: bool) -> None:
    """They read its head and its end; a log between is nobody's memory, and what somebody wrote may be."""
    long = _turn(f"The api listens on port 8080.\n{middle * 300}\nThe shop listens on port 8091.")
    found = left_open(long, extract(long))
    assert open_ is any(each.startswith("left out: ") for each in found), found


def test_a_yes_to_what_the_rules_did_not_understand_is_left_open() -> None:
    yes = _turn("yes, do that")
    vague = replace(_turn("and now?"), assistant_text="I could wrap the sheds in felt.")
    clear = replace(_turn("and now?"), assistant_text="I could move the api to port 8091.")
    assert ("accepts something",) == left_open(yes, extract(yes, [vague]))
    assert () == left_open(yes, extract(yes, [clear]))
