"""docs/reference/event.md is what the author of another host reads: its examples must be taken by the real reader."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from nextlevel import event

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "event.md").read_text()
EXAMPLES = dict(re.findall(r"^## (\w+)\n.*?^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
FIELDS = set(
    re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")))
)


def test_there_is_an_example_of_each_kind() -> None:
    """A kind without an example is one that nobody outside can send."""
    assert event.KINDS == set(EXAMPLES)


@pytest.mark.parametrize("kind", sorted(EXAMPLES))
def test_each_example_is_taken_by_the_reader(kind: str) -> None:
    """And says what it claims to say."""
    found = event.decode({b"e": EXAMPLES[kind].encode()})
    assert kind == found.kind


def test_the_page_names_each_field_of_the_event() -> None:
    """The table is the contract: no field more, none less."""
    assert set(inspect.signature(event.Event).parameters) == FIELDS


def test_the_page_names_each_code_by_which_an_event_is_refused() -> None:
    """Whoever finds a code among the dead letters must find it here."""
    codes = set(re.findall(r'MalformedEvent\(\s*"(\w+)"', inspect.getsource(event)))
    assert codes
    assert set() == {code for code in codes if f"`{code}`" not in PAGE}
