"""Labelled pairs in six languages, told in free words: how many are decided right, and that none is joined falsely."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from nextlevel.workers.evaluate.dedup import predict
from nextlevel.workers.evaluate.formats import Pair

PAIRS = Path(__file__).parents[2] / "data" / "dedup.jsonl"


@pytest.fixture(scope="module")
def decided() -> Counter[tuple[str, str]]:
    """How often a label met a verdict."""
    rows = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    return Counter((row["label"], predict(Pair.model_validate(row))["label"]) for row in rows)


def share(decided: Counter[tuple[str, str]], label: str) -> float:
    return decided[label, label] / sum(count for (wanted, _), count in decided.items() if wanted == label)


def test_no_two_facts_that_differ_are_joined(decided):
    """A block lost to a false merge is never told again."""
    assert 0 == decided["distinct", "same"] + decided["distinct", "updates"] + decided["distinct", "refines"]


def test_no_news_is_taken_for_a_repetition(decided):
    assert 0 == decided["updates", "same"] + decided["refines", "same"]


@pytest.mark.parametrize("label", ["same", "updates", "refines"])
def test_most_are_decided_as_a_person_would(decided, label):
    assert share(decided, label) >= 0.85
