"""Told or done, a procedure is read as its steps in their order."""

import pytest

from nextlevel.lang.steps import steps_of


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("git pull; npm ci; npm test -- --ci, all", ["git pull", "npm ci", "npm test -- --ci, all"]),
        ("1) bump the version 2) tag 3) push", ["bump the version", "tag", "push"]),
        ("bauen, testen, dann taggen", ["bauen", "testen", "taggen"]),
        ("build → test → tag", ["build", "test", "tag"]),
        ("git pull; docker build .; cd ..", ["git pull", "docker build .", "cd .."]),
        ("the deploy script", []),
    ],
)
def test_steps_are_read_as_they_were_told(text: str, steps: list[str]) -> None:
    """Numbered, joined by arrows, by commas, or as the calls of tools."""
    assert steps == steps_of(text)
