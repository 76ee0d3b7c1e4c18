"""The reference pages are printed from the code: what they say is so, or this fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from nextlevel.ops.reference import pages
from nextlevel.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", pages())
def test_the_page_is_what_the_code_prints(name: str) -> None:
    """Run `make fix` after a change of settings, commands, errors or API, and read what it did to the page."""
    assert pages()[name] == (ROOT / name).read_text()


def test_the_example_environment_sets_nothing_by_itself() -> None:
    """It is copied to .env as it is; each line that does something must be one that a person has opened."""
    lines = (ROOT / ".env.example").read_text().splitlines()
    assert [] == [line for line in lines if line and not line.startswith("#")]
    named = [line[2:].partition("=")[0] for line in lines if line.startswith("# NEXTLEVEL_")]
    assert [f"NEXTLEVEL_{name.upper()}" for name in Settings.model_fields] == named
