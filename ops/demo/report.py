"""What the demo prints once all is remembered: blocks, graph, recalls, times. Written for 80 columns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from nextlevel.client import Recalled
from nextlevel.model import block_text

from .agent import Prefetched
from .month import Probe

Row = Mapping[str, Any]

# By hand: strftime would speak the language of the machine's locale.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
TYPES = ("user_preference", "project_state", "learned_pattern", "entity_relationship", "procedural")


def blocks(rows: Sequence[Row], zone: tzinfo | None) -> RenderableType:
    """The blocks by type, each with its validity in the person's zone, and beneath it those that it replaced."""
    replaced: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["superseded_by"] is not None:
            replaced[row["superseded_by"]].append(row)
    parts: list[RenderableType] = []
    for type_ in TYPES:
        living = [row for row in rows if row["type"] == type_ and row["superseded_by"] is None]
        if living:
            parts += [Text(f"{type_} ({len(living)})", style="bold cyan"), _blocks_of(living, replaced, zone)]
    return Group(*parts)


def newest(rows: Sequence[Row], *, most: int = 4) -> list[str]:
    """The sentences that were learnt last, newest first."""
    return [_sentence(row) for row in sorted(rows, key=lambda row: str(row["created_at"]), reverse=True)[:most]]


def _blocks_of(living: Iterable[Row], replaced: Mapping[str, list[Row]], zone: tzinfo | None) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), expand=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    for row in sorted(living, key=lambda row: (row["subject"].casefold(), row["predicate"], row["valid_from"])):
        style = "" if row["status"] == "active" else "dim"
        note = "" if row["status"] == "active" else f" [{row['status']}]"
        table.add_row(Text(f"  {_sentence(row)}{note}", style=style), Text(_validity(row, zone), style=style))
        for depth, old in _line_of(row, replaced):
            table.add_row(
                Text(f"  {'  ' * depth}└ replaced: {_sentence(old)}", style="dim"),
                Text(_validity(old, zone), style="dim"),
            )
    return table


def _line_of(row: Row, replaced: Mapping[str, list[Row]], depth: int = 1) -> list[tuple[int, Row]]:
    found = []
    for old in sorted(replaced.get(row["id"], ()), key=lambda old: str(old["valid_from"]), reverse=True):
        found += [(depth, old), *_line_of(old, replaced, depth + 1)]
    return found


def graph(edges: Sequence[Row], *, most: int = 40) -> RenderableType:
    """The entities as a tree, the most connected first; an edge is shown once, below the entity it speaks of."""
    out: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    types: dict[str, str] = {}
    for edge in edges:
        subject, predicate, object_ = edge["subject"], edge["predicate"].replace("_", " "), edge["object"]
        types |= {subject: edge["subject_type"], object_: edge["object_type"]}
        if (predicate, object_) not in out[subject]:
            out[subject].append((predicate, object_))
    edges_in_all = sum(map(len, out.values()))
    tree = Tree("", hide_root=True, guide_style="dim")
    left = most

    def grow(branch: Tree, name: str, seen: frozenset[str]) -> None:
        nonlocal left
        for predicate, object_ in out.pop(name, ()):
            if left == 0:
                return
            left -= 1
            leaf = branch.add(Text.assemble((f"{predicate} ", "dim"), object_, (f"  {types[object_]}", "dim cyan")))
            if object_ not in seen:
                grow(leaf, object_, seen | {object_})

    for name in sorted(out, key=lambda name: (types[name] != "project", -len(out[name]), name)):
        if name in out and left > 0:
            grow(tree.add(Text.assemble((name, "bold"), (f"  {types[name]}", "cyan"))), name, frozenset({name}))
    hidden = edges_in_all - (most - left)
    return Group(tree, Text(f"… and {hidden} more", style="dim")) if hidden else tree


def recall(probe: Probe, found: Recalled) -> RenderableType:
    """A question, what is recalled for it, and the reason for each line."""
    when = f"  as of {day(probe.as_of)}" if probe.as_of else ""
    head = Text.assemble(("? ", "bold"), (probe.query, "bold"), (when, "yellow"))
    right = probe.passes(found.context)
    verdict = Text(f"  {'✓' if right else '✗'} {probe.why}", style="green" if right else "red")
    if not found.items:
        return Group(head, Text("  nothing known that fits: the model gets no text"), verdict)
    table = Table(box=None, show_header=False, padding=(0, 1), expand=True)
    table.add_column(width=4, justify="right")
    table.add_column(ratio=1, overflow="fold")
    for item in found.items:
        table.add_row(f"{item['score']:.2f}", Text(item["text"]))
        table.add_row("", Text(f"because {item['why']}", style="dim"))
    return Group(head, table, verdict)


def score(answers: Sequence[tuple[Probe, Recalled]]) -> RenderableType:
    """How many of the questions were answered right, and which were not."""
    wrong = [probe for probe, found in answers if not probe.passes(found.context)]
    lines = [Text(f"{len(answers) - len(wrong)} of {len(answers)} right", style="bold")]
    return Group(Text(), *lines, *(Text(f"  ✗ {probe.query} ({probe.why})", style="red") for probe in wrong))


def times(rows: Mapping[str, Sequence[Prefetched]]) -> RenderableType:
    """Median and 99th percentile of each kind, in milliseconds, and which rungs of the ladder answered."""
    table = Table(box=None, padding=(0, 1))
    for name in ("prefetch", "p50 ms", "p99 ms", "answered by"):
        table.add_column(name, justify="right" if name.endswith("ms") else "left")
    for name, found in rows.items():
        took = [each.ms for each in found]
        rungs = Counter(each.rung for each in found)
        told = ", ".join(f"{rung} {count}" for rung, count in rungs.most_common())
        table.add_row(name, f"{percentile(took, 50):.1f}", f"{percentile(took, 99):.1f}", told)
    return table


def percentile(values: Sequence[float], percent: int) -> float:
    """The smallest value that so many percent of all are not above (nearest rank).

    >>> percentile([4.0, 1.0, 3.0, 2.0], 50), percentile([4.0, 1.0, 3.0, 2.0], 99)
    (2.0, 4.0)
    """
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def heading(console: Console, text: str) -> None:
    console.print()
    console.rule(Text(text, style="bold"), align="left", style="dim")


def day(moment: str, zone: tzinfo | None = None) -> str:
    """The day of an RFC 3339 time, in its own zone or in another.

    >>> day("2026-06-04T23:20:01+02:00")
    '4 Jun'
    """
    at = datetime.fromisoformat(moment)
    at = at if zone is None else at.astimezone(zone)
    return f"{at.day} {MONTHS[at.month - 1]}"


def _sentence(row: Row) -> str:
    return block_text(row["subject"], row["predicate"], row["object"], negated=row["negated"])


def _validity(row: Row, zone: tzinfo | None) -> str:
    since = day(row["valid_from"], zone)
    return f"since {since}" if row["valid_to"] is None else f"{since} – {day(row['valid_to'], zone)}"
