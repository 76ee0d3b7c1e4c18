"""Pairs and mentions are answered by the stages' own functions, and the process tells what it can't use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nextlevel.workers.evaluate import dedup, links
from nextlevel.workers.evaluate.formats import Mention, Pair

FACT = {"type": "project_state", "subject": "fernhof-shop", "at": "2026-05-01"}


def pair(a: tuple[str, str], b: tuple[str, str], lang: str = "en") -> Pair:
    one, other = (FACT | {"predicate": predicate, "object": object_} for predicate, object_ in (a, b))
    return Pair.model_validate({"id": "p1", "lang": lang, "a": one, "b": other})


@pytest.mark.parametrize(
    ("a", "b", "lang", "label"),
    [
        (("runs on", "kestrel"), ("runs on", "Kestrel"), "en", "same"),
        (("runs on", "kestrel"), ("is hosted on", "kestrel"), "en", "same"),
        (("läuft auf", "kestrel"), ("is hosted on", "kestrel"), "de", "same"),
        (("runs on", "kestrel"), ("runs on", "osprey"), "en", "updates"),
        (("uses", "Postgres"), ("uses", "Caddy"), "en", "distinct"),
    ],
)
def test_a_pair_is_judged_as_the_store_stage_would(a, b, lang, label):
    assert {"id": "p1", "label": label} == dedup.predict(pair(a, b, lang))


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("The CRM is slow.", "CRM", "Larkfield CRM"),
        ("Odette's list is long.", "Odette's", "Odette Brannigan"),
        ("larkfield-2 is new.", "larkfield-2", None),
    ],
)
def test_a_mention_means_whom_the_link_stage_says(text, mention, entity):
    known = [
        {"name": "Larkfield CRM", "type": "project", "aliases": ["the CRM", "larkfield"]},
        {"name": "Odette Brannigan", "type": "person", "aliases": ["Odette"]},
    ]
    case = Mention.model_validate({"id": "l1", "known": known, "text": text, "mention": mention})
    assert {"id": "l1", "entity": entity} == links.predict(case)


def process(kind: str, source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nextlevel.workers.evaluate", kind, source, out],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_the_process_writes_what_the_scorer_reads(tmp_path):
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    source.write_text(pair(("runs on", "kestrel"), ("runs on", "osprey")).model_dump_json() + "\n")
    out.write_text("old")
    assert 0 == process("dedup", source, out).returncode
    assert [{"id": "p1", "label": "updates"}] == [json.loads(line) for line in out.read_text().splitlines()]


def test_a_line_that_is_none_of_the_set_ends_it_with_2_and_leaves_the_old_predictions(tmp_path):
    source, out = tmp_path / "pairs.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": "p1", "a": {}}\n')
    out.write_text("old")
    done = process("dedup", source, out)
    assert (2, "old") == (done.returncode, out.read_text())
    assert f"{source}:1: a.type: Field required" in done.stderr
