"""What a name names decides what it may be linked to."""

from __future__ import annotations

import pytest

from nextlevel.model import EntityType
from nextlevel.workers.steps.extract.rules.names import names


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("my clock is on Europe/Oslo", "Europe/Oslo", EntityType.PLACE),
        ("texts go out by seven.io since May", "seven.io", EntityType.ORGANISATION),
        ("it answers at api.example.com now", "api.example.com", EntityType.HOST),
        ("look at `pinboard`", "pinboard", EntityType.PROJECT),
        ("see src/app.ts", "src/app.ts", EntityType.FILE),
        ("it runs on plover-2", "plover-2", EntityType.HOST),
    ],
)
def test_a_name_has_the_kind_that_its_form_shows(text: str, name: str, kind: EntityType) -> None:
    assert (name, kind) in [(found.text, found.type) for found in names(text)]


@pytest.mark.parametrize("text", ["run it with `--workers=1`", "set `CI=1` first", "and/or", "it is in /tmp/x.log"])
def test_an_option_or_a_way_of_writing_names_nothing(text: str) -> None:
    assert () == names(text)
