"""Are the injected lines the right ones, and is nothing injected where nothing is known?

Two months are told by the real plugin and remembered by the real pipeline, and 10,000 blocks about other things are put
beside each. Then questions are asked as prefetch asks them: 150 to the demo's month (precision.jsonl) and 89 to another
person's (farm/), written before anything was measured; a third has no answer there. A line is right if it holds one of
the words that its question names, its date aside: they were written from the month, not from what is remembered of it.

Then come 40 openings (openings.jsonl), in four languages: "carry on", where a session begins and the brief is due, and
"write me a comparison", where a standing rule is. One is right if its context says what it must, within its budget.
Nobody is in a hurry here: how fast recall is, bench.prefetch tells.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from nextlevel.client import Client, ScopeName
from nextlevel.inference import open_embedder
from nextlevel.lang.tokens import estimate_tokens
from nextlevel.ops.demo.month import EXAMPLES, lines

from . import ground
from .common import Report, arguments, run, table
from .told import ASK_WITHIN_MS, Place, distract, tell, until_hot

HERE = Path(__file__).parent
MONTHS = {"month": EXAMPLES, "farm": HERE / "farm"}
QUESTIONS = {"month": HERE / "precision.jsonl", "farm": HERE / "farm" / "questions.jsonl"}
OPENINGS = HERE / "openings.jsonl"
BESIDE = 10_000
BUDGET_TOKENS, BRIEF_TOKENS = 400, 250
SHOWN = 12  # of the worst

_DATED = re.compile(r" \(since [^)]*\)$")


@dataclass(frozen=True, slots=True)
class Question:
    """`right` are the words of which a right line holds one; none where nothing is known."""

    query: str
    right: tuple[str, ...]

    def is_right(self, line: str) -> bool:
        said = _DATED.sub("", line).casefold()
        return any(word.casefold() in said for word in self.right)


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the lines that were injected for it."""

    question: Question
    lines: tuple[str, ...]

    @property
    def right(self) -> int:
        return sum(self.question.is_right(line) for line in self.lines)


@dataclass(frozen=True, slots=True)
class Opening:
    """A message with what its context must say: of each group of words one. No group: it must say nothing."""

    memory: str
    project: str
    brief: bool
    query: str
    expect: tuple[tuple[str, ...], ...]

    @property
    def most_tokens(self) -> int:
        return BUDGET_TOKENS + BRIEF_TOKENS * self.brief

    def is_right(self, context: str) -> bool:
        if not self.expect:
            return not context
        return all(any(word.casefold() in context.casefold() for word in group) for group in self.expect)


def questions(path: Path) -> list[Question]:
    return [Question(row["query"], tuple(row["right"])) for row in _rows(path)]


def openings() -> list[Opening]:
    return [Opening(**{**row, "expect": tuple(tuple(group) for group in row["expect"])}) for row in _rows(OPENINGS)]


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    every = 10 if options.quick else 1
    with ground.directory() as root:
        async with ground.running(root, report) as (settings, endpoints):
            place = Place(root, settings, endpoints)
            names = {name: await tell(place, name, lines(folder), report) for name, folder in MONTHS.items()}
            embedder = open_embedder(settings)
            try:
                blocks = 200 if options.quick else options.beside
                await distract(place, list(names.values()), blocks, embedder, report, seed=options.seed)
            finally:
                await embedder.close()
            judged = {
                name: await _ask(place.client, names[name], questions(path)[::every], report)
                for name, path in QUESTIONS.items()
            }
            opened = await _open(place.client, names, openings()[::every], report)
    figures: dict[str, Any] = {name: _figures(name, each, report) for name, each in judged.items()}
    return figures | {"openings": _opening_figures(opened, report)}


async def _ask(client: Client, name: ScopeName, asked: Sequence[Question], report: Report) -> list[Judged]:
    await until_hot(client, name)
    ask = partial(client.recall, scope=name, mode="prefetch", deadline_ms=ASK_WITHIN_MS)
    judged = []
    for question in asked:
        found = await asyncio.to_thread(ask, question.query)
        judged.append(Judged(question, tuple(item["text"] for item in found.items)))
    report.say(f"{name.install}: {len(judged)} questions asked")
    return judged


async def _open(
    client: Client, names: Mapping[str, ScopeName], asked: Sequence[Opening], report: Report
) -> list[tuple[Opening, str]]:
    """Each opening with the context it got."""
    opened = []
    for each in asked:
        ask = partial(client.recall, mode="prefetch", deadline_ms=ASK_WITHIN_MS, brief=each.brief, project=each.project)
        found = await asyncio.to_thread(ask, each.query, names[each.memory])
        opened.append((each, found.context))
    report.say(f"{len(opened)} openings asked")
    return opened


def _figures(name: str, judged: Sequence[Judged], report: Report) -> dict[str, Any]:
    known = [each for each in judged if each.question.right]
    unknown = [each for each in judged if not each.question.right]
    injected = sum(len(each.lines) for each in judged)
    figures = {
        "questions": len(judged),
        "lines": injected,
        "lines a question": round(injected / len(judged), 2),
        "precision": sum(each.right for each in judged) / max(injected, 1),
        "answered": _share([each.right > 0 for each in known]),
        "first line right": _share([bool(each.lines) and each.question.is_right(each.lines[0]) for each in known]),
        "injected for nothing": _share([bool(each.lines) for each in unknown]),
    }
    table(f"precision, {name}", ("", ""), [[title, f"{value:.3g}"] for title, value in figures.items()])
    _show("not answered", [each for each in known if not each.right])
    _show("wrong lines", [each for each in judged if each.right < len(each.lines)])
    report.goal(f"{name}: precision of injected lines", figures["precision"], least=0.95)
    report.goal(f"{name}: answerable questions that are answered", figures["answered"], least=0.90)
    report.goal(f"{name}: questions without an answer that get lines", figures["injected for nothing"], most=0.03)
    return figures


def _opening_figures(opened: Sequence[tuple[Opening, str]], report: Report) -> dict[str, Any]:
    wrong = [(each, context) for each, context in opened if not each.is_right(context)]
    over = [each for each, context in opened if estimate_tokens(context) > each.most_tokens]
    figures = {"openings": len(opened), "right": 1 - len(wrong) / len(opened), "over budget": len(over)}
    table("openings", ("", ""), [[title, f"{value:.3g}"] for title, value in figures.items()])
    for each, context in wrong:
        print(f"  {each.memory}, {each.project}: {each.query}\n      {context[:300]!r}", file=sys.stderr)
    report.goal("openings that say what they must", figures["right"], least=0.95)
    report.goal("openings over their budget", figures["over budget"], most=0)
    return figures


def _share(told: Sequence[bool]) -> float:
    return sum(told) / max(len(told), 1)


def _show(title: str, found: Sequence[Judged]) -> None:
    print(f"\n{title}: {len(found)} questions", file=sys.stderr)
    for each in found[:SHOWN]:
        wrong = [line for line in each.lines if not each.question.is_right(line)]
        print(f"  {each.question.query}", *(f"      {line[:150]}" for line in wrong[:3]), sep="\n", file=sys.stderr)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--beside", type=int, default=BESIDE, help="blocks about other things in each scope")
    sys.exit(run("precision", bench, parser))
