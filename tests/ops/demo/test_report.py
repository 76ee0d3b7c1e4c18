"""What the demo prints: a person judges the product by it, on a terminal of 80 columns."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import Any

from rich.console import Console

from nextlevel.client import Recalled
from nextlevel.ops.demo import report
from nextlevel.ops.demo.agent import Prefetched
from nextlevel.ops.demo.month import Probe


def printed(renderable: Any) -> list[str]:
    console = Console(width=80, color_system=None)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get().rstrip("\n").split("\n")


def block(id: str, object: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": id,
        "type": "project_state",
        "subject": "waldseilgarten-crm",
        "predicate": "runs_on_port",
        "object": object,
        "negated": False,
        "status": "active",
        "valid_from": "2026-06-01T09:15:31+02:00",
        "valid_to": None,
        "superseded_by": None,
        **changes,
    }


def test_a_block_stands_above_those_that_it_replaced() -> None:
    """Newest first, each with its validity: a person sees what held when, and that nothing was overwritten."""
    ended = {"status": "superseded", "valid_to": "2026-06-04T16:20:01+02:00"}
    rows = [
        block("a", "8080", superseded_by="b", **ended),
        block("b", "8085", superseded_by="c", **ended),
        block("c", "8091", valid_from="2026-06-04T16:20:01+02:00"),
    ]
    type_, *lines = [line.strip() for line in printed(report.blocks(rows, None))]
    assert "project_state (1)" == type_
    assert ["8091", "8085", "8080"] == [line.split(" port ")[1][:4] for line in lines]
    assert ["since 4 Jun", "1 Jun – 4 Jun", "1 Jun – 4 Jun"] == [line.split("  ")[-1].strip() for line in lines]
    assert [False, True, True] == ["└ replaced: " in line for line in lines]


def test_blocks_are_sorted_by_type_and_a_negated_one_says_so() -> None:
    """Preferences first, since they apply everywhere."""
    rows = [
        block("a", "8091"),
        block("b", "emojis", type="user_preference", subject="user", predicate="wants", negated=True),
        block("c", "maybe", status="review", type="procedural"),
    ]
    lines = printed(report.blocks(rows, None))
    assert ["user_preference (1)", "project_state (1)", "procedural (1)"] == [x for x in lines if not x.startswith(" ")]
    assert any("user wants not: emojis" in line for line in lines)
    assert any("[review]" in line for line in lines)


def test_nothing_is_wider_than_eighty_columns() -> None:
    """Long facts are folded, dates stay whole."""
    lines = printed(report.blocks([block("a", "word " * 60)], None))
    assert max(map(len, lines)) <= 80
    assert 1 == sum("since 1 Jun" in line for line in lines)


def edge(
    subject: str, predicate: str, object: str, *, types: tuple[str, str] = ("project", "technology")
) -> dict[str, str]:
    return {
        "subject": subject, "subject_type": types[0], "predicate": predicate, "object": object, "object_type": types[1]
    }  # fmt: skip


def test_the_graph_grows_from_projects_and_shows_each_edge_once() -> None:
    """Also where two entities speak of each other: a tree that follows a circle would never end."""
    lines = printed(
        report.graph(
            [
                edge("crm", "uses", "NestJS"),
                edge("crm", "uses", "NestJS"),
                edge("Flo", "works_on", "crm", types=("person", "project")),
                edge("crm", "built_by", "Flo", types=("project", "person")),
            ]
        )
    )
    assert "crm  project" == lines[0].strip()
    assert 1 == sum("NestJS" in line for line in lines)
    assert 1 == sum("works on crm" in line for line in lines)


def test_a_large_graph_is_cut_and_says_so() -> None:
    """A tree of hundreds of lines shows nothing."""
    lines = printed(report.graph([edge("crm", "uses", f"lib{n}") for n in range(50)], most=10))
    assert 12 == len(lines)
    assert "… and 40 more" == lines[-1]


ITEM = {"score": 0.91, "text": "crm: runs on port 8091 (since 4 Jun)", "why": "shares port, api"}


def test_a_recall_shows_each_line_with_its_reason_and_whether_it_was_right() -> None:
    """A wrong answer has to look wrong."""
    answer = Recalled("… 8091 …", [ITEM], rung="hot", ms=3.0, abstained=False)
    text = "\n".join(printed(report.recall(Probe("which port?", ("8091",), "it moved"), answer)))
    assert "because shares port, api" in text
    assert "✓ it moved" in text
    assert "✗" in "\n".join(printed(report.recall(Probe("which port?", ("8080",), "then"), answer)))


def test_an_answer_that_abstains_says_that_the_model_gets_nothing() -> None:
    """Silence is an answer, and shown as one."""
    nothing = Recalled("", [], rung="hot", ms=3.0, abstained=True)
    text = "\n".join(printed(report.recall(Probe("passport?", None, "never said"), nothing)))
    assert "the model gets no text" in text
    assert "✓ never said" in text


def test_the_score_names_what_was_answered_wrong() -> None:
    """A demo that only shows what went well proves nothing."""
    nothing = Recalled("", [], rung="hot", ms=3.0, abstained=True)
    asked = [(Probe("passport?", None, "never said"), nothing), (Probe("port?", ("8091",), "it moved"), nothing)]
    assert ["1 of 2 right", "✗ port? (it moved)"] == [line.strip() for line in printed(report.score(asked))[1:]]


def test_a_day_is_the_speakers() -> None:
    """Midnight in Berlin is the evening before in UTC: the day shown must be the one that was said."""
    assert "15 Jun" == report.day("2026-06-14T22:00:00Z", timezone(timedelta(hours=2)))


def test_times_tell_which_rung_answered() -> None:
    """A prefetch that fell through to the local disk is fast, and no proof that recall is."""
    row = printed(report.times({"never asked": [Prefetched("service", 40.0), Prefetched("shortterm", 1.5)]}))[1]
    assert ["never asked", "1.5", "40.0", "service 1, shortterm 1"] == [
        part.strip() for part in row.split("  ") if part.strip()
    ]


def test_a_percentile_is_a_value_that_was_measured() -> None:
    """No interpolation: of few values the 99th percentile is the largest."""
    assert (2.0, 3.0) == (report.percentile([3.0, 1.0, 2.0], 50), report.percentile([3.0, 1.0, 2.0], 99))
    assert 5.0 == report.percentile([5.0], 1)
