"""Two dozen sessions written after the rules, by themselves: what the rules read in words that they were not made for.

No store is asked, so that they cost seconds; what a memory keeps of the older sixty, test_labelled_sessions.py tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from nextlevel.model import ToolCall, Turn
from nextlevel.safety.redact import redact
from nextlevel.workers.steps.classify import needs_review
from nextlevel.workers.steps.pipeline import WINDOW_TURNS, read
from tests.support import labels

# Floors, a little under what is measured. `tuned`: what the rules missed there was looked at, and mended by its cause;
# `unseen`: it was scored once, and nothing was changed for it.
FLOORS = {"tuned": (0.88, 0.90), "unseen": (0.78, 0.85)}


@pytest.mark.parametrize("name", FLOORS)
def test_what_the_rules_read_in_later_sessions_stays_as_good_as_it_is(name: str) -> None:
    """Rules that fit the sentences they were written for are worth nothing to the next user."""
    labelled = labels.read(labels.FOLDER / f"later_{name}.jsonl")
    figures = labels.score(labelled, [row for session in labelled for row in _read(session)])
    recall, precision = FLOORS[name]
    assert (0, 0) == (figures.leaks, figures.invisible)
    assert recall <= figures.recall, figures.missed
    assert precision <= figures.precision, [each for each in figures.verdicts if each[1] != "right"]


def _read(session: labels.Row) -> Iterator[labels.Row]:
    """A session's turns as the rules read them, as rows for the scorer."""
    window: list[Turn] = []
    for line in session["turns"]:
        calls = tuple(ToolCall(each["name"], each["args"], each["result"]) for each in line.get("tools", ()))
        at, said = datetime.fromisoformat(line["at"]), redact(line["user"]).text
        turn = Turn(f"{session['id']}:{line['n']}", session["id"], line["n"], at, said, line["assistant"], calls)
        for found in read("turn", turn, {}, window[-WINDOW_TURNS:]).found.candidates:
            if not needs_review(found, review_below=0.5):
                yield {
                    "session": session["id"],
                    "turn": line["n"],
                    "type": found.type,
                    "subject": found.subject,
                    "predicate": found.predicate.replace("_", " "),
                    "object": found.object,
                    "value": found.value,
                    "context": found.context,
                    "polarity": "-" if found.negated else "+",
                }
        window.append(turn)
