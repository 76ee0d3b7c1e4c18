"""The demo's story: what became of a turn, and why, in a newcomer's words."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from nextlevel.ops.demo import story


def trace(text: str, state: str, *, kept: Any = (), dropped: Any = (), changes: Any = (), reason: str = "") -> Any:
    events = [
        {"step": "extract", "facts": {"kept": list(kept), "dropped": list(dropped)}},
        {"step": "store", "facts": {"changes": list(changes), "superseded": len(changes)}},
    ]
    return {"turn": {"user_text": text, "state": state, "reason": reason}, "events": events}


PORT = {"text": "api runs on port 8091", "branch": "environment_or_convention"}
OLD = {"what": "superseded", "block": "api runs on port 8080", "why": "there is one port at a time"}
ASIDE = {"text": "morning", "why": "chitchat"}
MIXED = trace("morning, the api is on 8091", "stored", kept=[PORT], dropped=[ASIDE])
MOVED = trace("moved the api to 8091", "stored", kept=[PORT], changes=[OLD])
ASKED = trace("which port?", "skipped", dropped=[{"text": "which port?", "why": "question"}], reason="nothing said")
GREETED = trace("morning", "skipped", reason="not worth reading: chitchat")


def told(each: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(story.turn(each))
    return out.getvalue()


def test_one_turn_of_each_kind_is_told_in_the_months_order() -> None:
    assert [MIXED, MOVED, ASKED, GREETED] == story.telling([GREETED, GREETED, MIXED, ASKED, MOVED, MIXED])


def test_a_month_that_lacks_a_kind_is_told_without_it() -> None:
    assert [GREETED] == story.telling([GREETED])


def test_a_turn_is_told_with_what_it_replaced_and_why_the_rest_was_dropped() -> None:
    assert "kept      api runs on port 8091  (environment or convention)" in told(MIXED)
    assert "dropped   morning  (chitchat)" in told(MIXED)
    assert "replaced  api runs on port 8080  (there is one port at a time)" in told(MOVED)
    assert "nothing kept: not worth reading: chitchat" in told(GREETED)
