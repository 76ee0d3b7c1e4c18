"""Labelled mentions of our own, in four languages: how many are linked right, and that none is linked wrongly."""

import json
from pathlib import Path

from nextlevel.workers.evaluate import links
from nextlevel.workers.evaluate.formats import Mention

LABELLED = Path(__file__).parents[2] / "data" / "links.jsonl"
LEAST_RIGHT = 0.95


def test_mentions_are_linked_right_and_none_to_the_wrong_entity():
    """A mention left unlinked makes a second entity, which can be merged; a wrong link mixes two lives."""
    rows = [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]
    found = {row["id"]: links.predict(Mention.model_validate(row))["entity"] for row in rows}
    missed = [f"{row['mention']!r} in {row['text']!r}" for row in rows if found[row["id"]] != row["entity"]]
    wrong = [row["id"] for row in rows if found[row["id"]] not in (None, row["entity"])]
    assert [] == wrong
    assert 1 - len(missed) / len(rows) >= LEAST_RIGHT, missed
