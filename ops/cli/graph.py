"""`nextlevel graph ENTITY`: what an entity is related to, as a tree; or for other tools, as GraphML, JSON-LD or CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated, Any
from xml.etree import ElementTree

import typer
from rich.tree import Tree

from .commands import examples
from .service import Install, Profile, connect, scope
from .show import console, printable

app = typer.Typer(add_completion=False)

MOST_EDGES = 300
Edges = Sequence[dict[str, Any]]


class Format(StrEnum):
    GRAPHML = "graphml"
    JSONLD = "jsonld"
    CSV = "csv"


@app.command(
    "graph",
    epilog=examples(
        "nextlevel graph waldseilgarten-crm", "nextlevel graph Florian --hops 3 --export graphml > florian.graphml"
    ),
)
def run(
    entity: Annotated[str, typer.Argument(help="Any name of what stands in the middle.")],
    hops: Annotated[int, typer.Option(min=1, max=3, help="How many steps away from it.")] = 2,
    export: Annotated[Format | None, typer.Option(help="Print the edges for another tool instead.")] = None,
    install: Install = "local",
    profile: Profile = "default",
) -> None:
    """Show what an entity is related to, by which facts. At most 300 of them, the newest first."""
    edges = connect().graph(scope(install, profile), entity=entity, hops=hops, limit=MOST_EDGES)
    if export is not None:
        typer.echo(EXPORTS[export](edges), nl=False)
        return
    found = connect().entity(entity, scope(install, profile))
    if not edges:
        typer.echo(f"{printable(found['name'])}: related to nothing that holds now")
        return
    console().print(tree(found["name"], found["id"], edges))


def tree(name: str, entity: str, edges: Edges) -> Tree:
    """The edges around an entity, each once: where two ways lead to one entity, the shorter shows it."""
    root = Tree(printable(name))
    branches, seen = {entity: root}, set[str]()
    while grown := [edge for edge in edges if _key(edge) not in seen and _ends(edge) & branches.keys()]:
        reached: dict[str, Tree] = {}
        for edge in grown:
            seen.add(_key(edge))
            here, there, text = _seen_from(edge, edge["subject_id"] in branches)
            branch = branches[here].add(printable(text))
            if there not in branches:
                reached.setdefault(there, branch)
        branches |= reached
    return root


def _key(edge: dict[str, Any]) -> str:
    """What tells an edge from all others: a document has many."""
    return edge["block_id"] or f"{edge['document_id']} {edge['subject_id']} {edge['predicate']} {edge['object_id']}"


def _ends(edge: dict[str, Any]) -> set[str]:
    return {edge["subject_id"], edge["object_id"]}


def _seen_from(edge: dict[str, Any], subject: bool) -> tuple[str, str, str]:
    """Where an edge begins and ends when it is read from its subject, else from its object; and how it reads."""
    verb = edge["predicate"].replace("_", " ")
    if subject:
        return edge["subject_id"], edge["object_id"], f"{verb} → {edge['object']}"
    return edge["object_id"], edge["subject_id"], f"{verb} ← {edge['subject']}"


def as_graphml(edges: Edges) -> str:
    """GraphML with names and kinds of nodes, predicates and dates of edges."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, of in (("name", "node"), ("type", "node"), ("predicate", "edge"), ("since", "edge")):
        ElementTree.SubElement(root, "key", {"id": name, "for": of, "attr.name": name, "attr.type": "string"})
    graph = ElementTree.SubElement(root, "graph", edgedefault="directed")
    for node, (name, kind) in _nodes(edges).items():
        _with_data(ElementTree.SubElement(graph, "node", id=node), name=name, type=kind)
    for edge in edges:
        ends = {"source": edge["subject_id"], "target": edge["object_id"]}
        _with_data(ElementTree.SubElement(graph, "edge", ends), predicate=edge["predicate"], since=edge["valid_from"])
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def as_jsonld(edges: Edges) -> str:
    """JSON-LD: each entity with what it is related to by each predicate."""
    nodes: dict[str, dict[str, Any]] = {
        node: {"@id": f"urn:uuid:{node}", "@type": kind, "name": name} for node, (name, kind) in _nodes(edges).items()
    }
    for edge in edges:
        related = nodes[edge["subject_id"]].setdefault(edge["predicate"], [])
        related.append({"@id": f"urn:uuid:{edge['object_id']}"})
    context = {"@vocab": "urn:nextlevel:", "name": "http://schema.org/name"}
    return json.dumps({"@context": context, "@graph": list(nodes.values())}, ensure_ascii=False, indent=2) + "\n"


def as_csv(edges: Edges) -> str:
    """One edge a line, with names and kinds of both ends."""
    columns = ("subject", "subject_type", "predicate", "object", "object_type", "valid_from", "block_id")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_inert(edge[column]) for column in columns] for edge in edges)
    return out.getvalue()


EXPORTS: dict[Format, Callable[[Edges], str]] = {
    Format.GRAPHML: as_graphml,
    Format.JSONLD: as_jsonld,
    Format.CSV: as_csv,
}


def _nodes(edges: Edges) -> dict[str, tuple[str, str]]:
    """Name and kind of each entity."""
    return {
        edge[f"{end}_id"]: (printable(edge[end]), edge[f"{end}_type"])
        for edge in edges
        for end in ("subject", "object")
    }


def _with_data(element: ElementTree.Element, **values: str) -> None:
    for key, value in values.items():
        ElementTree.SubElement(element, "data", key=key).text = printable(value)


def _inert(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: what was remembered is foreign text."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else printable(cell)
