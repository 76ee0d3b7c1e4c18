"""LoCoMo's turns and questions, as its own reader gives them."""

from __future__ import annotations

from pathlib import Path

from nextlevel import jsonl
from nextlevel.ops.evaluate import locomo
from nextlevel.ops.evaluate.retrieval import Line, Question


def read(root: Path, *, quick: bool) -> tuple[list[Line], list[Question]]:
    """All of them, also as turns.jsonl and questions.jsonl in `root`; `quick`: a few of the first conversation.

    Raises:
        UnusableFile: LoCoMo is not there.
    """
    lines = jsonl.read(locomo.extract("turns", root), Line)
    questions = jsonl.read(locomo.extract("questions", root), Question)
    if quick:
        first = lines[0].conv
        lines = [line for line in lines if line.conv == first][:60]
        questions = [each for each in questions if each.conv == first][:20]
        for name, rows in (("turns", lines), ("questions", questions)):
            jsonl.write(root / f"{name}.jsonl", [row.model_dump(mode="json") for row in rows])
    return lines, questions
