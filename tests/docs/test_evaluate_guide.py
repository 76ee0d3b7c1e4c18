"""docs/guide/evaluate.md is what people label their own data by: its examples must be taken as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from nextlevel.ops.evaluate.retrieval import Line, Question
from nextlevel.workers.evaluate.formats import Mention, Pair, Session

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "evaluate.md").read_text()
EXAMPLES = re.findall(r"^```json\n(.*?)\n```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("number", "kind"), list(enumerate([Session, Pair, Mention, Line, Question])))
def test_each_example_is_one_line_that_is_taken(number: int, kind: type[BaseModel]) -> None:
    assert "\n" not in EXAMPLES[number]
    kind.model_validate_json(EXAMPLES[number])


def test_there_is_an_example_of_each_file() -> None:
    assert 5 == len(EXAMPLES)
