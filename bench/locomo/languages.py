"""30 facts in five languages, each asked for in other words than it is told in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from nextlevel.inference import Embedder
from nextlevel.ops.evaluate import locomo
from nextlevel.ops.evaluate.retrieval import Line, Question

from .baselines import Ranking, vectors

LANGUAGES = ("en", "de", "sv", "pl", "zh")


def facts() -> list[tuple[Line, Question]]:
    """Each fact is a session of its own, each language a person."""
    file = locomo.directory() / "baselines" / "multi.tsv"
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    at = datetime(2026, 1, 5, 9, tzinfo=UTC)
    return [
        (
            Line(conv=f"facts-{language}", dia_id=fact, session=fact, at=at, speaker="I", text=statement),
            Question(conv=f"facts-{language}", q=int(fact), question=query),
        )
        for fact, language, statement, query in rows
    ]


async def by_language(
    asked: Sequence[tuple[Line, Question]], served: Ranking, embedder: Embedder
) -> dict[str, dict[str, float]]:
    """Recall@1 in each language, as served and by vectors alone."""
    found: dict[str, dict[str, float]] = {}
    for language in LANGUAGES:
        ours = [(line, question) for line, question in asked if line.conv == f"facts-{language}"]
        rows = await vectors([line for line, _ in ours], embedder)
        hits = Counter[str]()
        for line, question in ours:
            nearest = ours[int(np.argmax(rows @ await embedder.query(question.question)))][0]
            hits["dense"] += nearest.dia_id == line.dia_id
            hits["served"] += served[question.conv, question.q][:1] == [line.dia_id]
        found[language] = {name: hits[name] / len(ours) for name in ("served", "dense")}
    return found
