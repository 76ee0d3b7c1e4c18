from __future__ import annotations

import pytest

from nextlevel.ops.cli.show import console, facts, printable, table
from nextlevel.ops.cli.status import age


def test_what_was_remembered_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A web page that an agent read may hold escape sequences and markup; both are shown as text."""
    hostile = "\x1b[2J[red]x[/red]"
    console().print(table(("memory",), [(hostile,)]))
    console().print(printable(hostile))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("[red]x[/red]") == 2


@pytest.mark.parametrize(("seconds", "said"), [(0.4, "0 s"), (119, "119 s"), (125, "2 min"), (7300, "2 h")])
def test_an_age_is_said_as_a_person_says_it(seconds: float, said: str) -> None:
    """ "7300" is a number; "2 h" is a reason to look."""
    assert age(seconds) == said


def test_facts_are_short() -> None:
    """Three digits of a score are noise."""
    assert facts({"score": 0.12345, "rule": "port"}) == "score=0.12 rule=port"
