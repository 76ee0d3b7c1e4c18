"""The graph as a tree, and in three formats that other tools read."""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from xml.etree import ElementTree

from rich.console import Console

from nextlevel.ops.cli.graph import as_csv, as_graphml, as_jsonld, tree

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def edge(block: str, subject: str, predicate: str, object_: str) -> dict[str, Any]:
    return {
        "block_id": block,
        "predicate": predicate,
        "valid_from": "2026-06-03T12:00:00+00:00",
        "subject_id": f"id-{subject}",
        "subject": subject,
        "subject_type": "project",
        "object_id": f"id-{object_}",
        "object": object_,
        "object_type": "technology",
    }


EDGES = [
    edge("1", "crm", "uses", "Postgres"),
    edge("2", "shop", "uses", "Postgres"),
    edge("3", "shop", "runs_on", "birke-02"),
    edge("4", "birke-02", "hosts", "crm"),
]


def drawn(name: str, entity: str, edges: list[dict[str, Any]]) -> list[str]:
    out = Console(file=io.StringIO(), width=80)
    out.print(tree(name, entity, edges))
    return out.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_tree_shows_each_fact_once_and_which_way_it_reads() -> None:
    """A circle (crm, birke-02, shop, Postgres) must not draw for ever."""
    lines = drawn("crm", "id-crm", EDGES)
    assert "crm" == lines[0]
    assert 5 == len(lines)
    assert any("uses → Postgres" in line for line in lines)
    assert any("hosts ← birke-02" in line for line in lines)
    assert any(line.startswith("│") and "shop" in line for line in lines)


def test_graphml_holds_every_entity_once_and_every_fact() -> None:
    root = ElementTree.fromstring(as_graphml(EDGES))  # noqa: S314 - our own text
    assert 4 == len(root.findall(f".//{GRAPHML}node"))
    assert {("id-crm", "id-Postgres")} <= {
        (each.get("source"), each.get("target")) for each in root.iter(f"{GRAPHML}edge")
    }


def test_jsonld_relates_entities_by_predicate() -> None:
    document = json.loads(as_jsonld(EDGES))
    crm = next(node for node in document["@graph"] if node["name"] == "crm")
    assert [{"@id": "urn:uuid:id-Postgres"}] == crm["uses"]


def test_csv_runs_no_formula_in_a_spreadsheet() -> None:
    """A name may come from a pasted text."""
    [row] = csv.DictReader(io.StringIO(as_csv([edge("1", "=cmd()", "uses", "Postgres")])))
    assert "'=cmd()" == row["subject"]


def test_an_empty_graph_is_a_valid_document_in_each_format() -> None:
    assert 0 == len(ElementTree.fromstring(as_graphml([])).findall(f".//{GRAPHML}node"))  # noqa: S314
    assert [] == json.loads(as_jsonld([]))["@graph"]
    assert 1 == len(as_csv([]).splitlines())
