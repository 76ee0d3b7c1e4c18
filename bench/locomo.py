"""Which past turns answer a question? LoCoMo, through the product as it is served, beside plain ways to search.

The turns are published over HTTP, worked on, indexed and embedded; the questions are asked of `POST /v1/recall` in mode
search. BM25, dense and rank fusion run over the same turns with the same vectors. Constants were tuned on TUNED_ON
alone: the other conversations are reported apart. LoCoMo is CC BY-NC and stays where it is: LOCOMO names its directory.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import math
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from nextlevel import jsonl
from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.cache import Cache
from nextlevel.client import Client
from nextlevel.errors import UnusableFile
from nextlevel.inference import Embedder, open_embedder
from nextlevel.lang.passages import gist
from nextlevel.lang.roots import root
from nextlevel.lang.tokens import content_words
from nextlevel.ops.evaluate import locomo, retrieval
from nextlevel.ops.evaluate.retrieval import Line, Question
from nextlevel.ops.up import tree
from nextlevel.recall import Mode, Recall, Request
from nextlevel.settings import Settings
from nextlevel.store.pool import Database
from nextlevel.workers.worker import opened, work

from . import ground
from .common import Report, arguments, run, table
from .vectors import CachedEmbedder, directory

TUNED_ON = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
LANGUAGES = ("en", "de", "sv", "pl", "zh")
SERVE = tuple(role for role in tree.ROLES if role.name == "serve")

Row = dict[str, Any]
Ranking = dict[tuple[str, int], list[str]]


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    with ground.directory() as root_dir:
        lines = jsonl.read(locomo.extract("turns", root_dir), Line)
        questions = jsonl.read(locomo.extract("questions", root_dir), Question)
        if options.quick:
            lines, questions = _some(lines, questions)
        facts = _facts()
        running = ground.running(root_dir, report, SERVE)
        async with running as (settings, endpoints), _worker(settings) as embedder:
            client = Client(endpoints.service_url, token(secret_of(settings), OPERATOR), timeout_s=60)
            told = await retrieval.tell(client, lines + [line for line, _ in facts], _tick(report))
            await retrieval.settled(client, len(told), _tick(report))
            await retrieval.indexed(settings, endpoints.postgres_dsn, _tick(report))
            report.say(f"{len(told)} turns are in memory; {embedder.made} vectors had to be made")
            served = await retrieval.ask(client, questions, told, _tick(report))
            spoken = await retrieval.ask(client, [question for _, question in facts], told, _tick(report))
            words_only = await _without_vectors(settings, questions, told)
            report.say("asked without vectors; now the baselines")
            systems = {"served": _by_key(served), "served, words only": words_only}
            systems |= await _baselines(lines, questions, embedder)
            languages = await _languages(facts, spoken, embedder)
    return _judge(systems, _abstained(served), languages, report)


def _some(lines: list[Line], questions: list[Question]) -> tuple[list[Line], list[Question]]:
    first = lines[0].conv
    return [line for line in lines if line.conv == first][:60], [each for each in questions if each.conv == first][:20]


@asynccontextmanager
async def _worker(settings: Settings) -> AsyncIterator[CachedEmbedder]:
    """The worker as it runs everywhere, in this process, so that the vectors of an earlier run serve again."""
    embedder = CachedEmbedder(open_embedder(settings), directory())
    async with opened(settings, embeds=False) as (ctx, wakers):
        working = asyncio.create_task(work(replace(ctx, embedder=embedder), wakers))
        try:
            yield embedder
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
    await embedder.close()


def _tick(report: Report) -> retrieval.Tick:
    said: Counter[str] = Counter()

    def tick(what: str, done: int, total: int) -> None:
        if done >= said[what] + max(total // 4, 1) or (done >= total and said[what] < total):
            said[what] = done
            report.say(f"{what}: {done} of {total}")

    return tick


async def _without_vectors(settings: Settings, questions: Sequence[Question], told: dict[str, str]) -> Ranking:
    """The same recall with no embedder: what is answered where the model is down."""
    db, cache = await Database.connect(settings.need_postgres()), Cache(None)
    recall = Recall(settings, db, cache, None)
    found: Ranking = {}
    try:
        for each in questions:
            request = Request(each.question, retrieval.INSTALL, "default", each.conv, Mode.SEARCH, 2_000, None)
            answer = await recall.answer(request)
            turns = [told[item.passage.turn] for item in answer.items if item.passage is not None]
            found[each.conv, each.q] = list(dict.fromkeys(turns))
    finally:
        await recall.close()
        await cache.close()
        await db.close()
    return found


def _by_key(rows: Sequence[Row]) -> Ranking:
    return {(row["conv"], row["q"]): row["ranked"] for row in rows}


def _abstained(rows: Sequence[Row]) -> dict[tuple[str, int], bool]:
    return {(row["conv"], row["q"]): row["abstain"] for row in rows}


# ---- baselines: small and usual, over the same turns


class BM25:
    """Okapi BM25 with k1 1.2 and b 0.75, over the roots of content words."""

    def __init__(self, texts: Sequence[str]) -> None:
        terms = [[root(word) for word in content_words(text)] for text in texts]
        lengths = np.array([len(each) for each in terms], dtype=float)
        self._norm = 1.2 * (0.25 + 0.75 * lengths / max(lengths.mean(), 1))
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        for place, each in enumerate(terms):
            for term, count in Counter(each).items():
                self._counts[term][place] = count

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        found = np.zeros(len(self._norm))
        for term in {root(word) for word in content_words(query)}:
            held = self._counts.get(term, {})
            idf = math.log(1 + (len(found) - len(held) + 0.5) / (len(held) + 0.5))
            for place, count in held.items():
                found[place] += idf * count * 2.2 / (count + self._norm[place])
        return found


async def _baselines(lines: Sequence[Line], questions: Sequence[Question], embedder: Embedder) -> dict[str, Ranking]:
    by_conv: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_conv[line.conv].append(line)
    found: dict[str, Ranking] = {"BM25": {}, "dense": {}, "RRF": {}}
    for conv, spoken in by_conv.items():
        texts = [f"{line.speaker}: {line.text}" for line in spoken]
        bm25, rows = BM25(texts), await embedder.passages([gist(text, "") for text in texts])
        for each in (question for question in questions if question.conv == conv):
            by_words, by_vector = bm25.scores(each.question), rows @ await embedder.query(each.question)
            fused = sum(1 / (60 + np.argsort(np.argsort(-scores, kind="stable"))) for scores in (by_words, by_vector))
            for name, scores in (("BM25", by_words), ("dense", by_vector), ("RRF", fused)):
                best = np.argsort(-scores, kind="stable")[: retrieval.MOST]
                found[name][conv, each.q] = [spoken[place].dia_id for place in best]
    return found


# ---- languages: 30 facts in five of them, asked for in other words


def _facts() -> list[tuple[Line, Question]]:
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


async def _languages(
    facts: Sequence[tuple[Line, Question]], spoken: Sequence[Row], embedder: Embedder
) -> dict[str, dict[str, float]]:
    """Recall@1 in each language, as served and by vectors alone."""
    served = _by_key(spoken)
    found: dict[str, dict[str, float]] = {}
    for language in LANGUAGES:
        ours = [(line, question) for line, question in facts if line.conv == f"facts-{language}"]
        rows = await embedder.passages([gist(f"{line.speaker}: {line.text}", "") for line, _ in ours])
        hits = Counter[str]()
        for line, question in ours:
            nearest = ours[int(np.argmax(rows @ await embedder.query(question.question)))][0]
            hits["dense"] += nearest.dia_id == line.dia_id
            hits["served"] += served[question.conv, question.q][:1] == [line.dia_id]
        found[language] = {name: hits[name] / len(ours) for name in ("served", "dense")}
    return found


# ---- judgement, by LoCoMo's own scorer


def _scorer() -> Any:
    spec = importlib.util.spec_from_file_location("locomo_scorer", locomo.directory() / "retrieval.py")
    if spec is None or spec.loader is None:
        raise UnusableFile("LoCoMo's scorer can't be read")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _judge(
    systems: dict[str, Ranking],
    abstained: dict[tuple[str, int], bool],
    languages: dict[str, dict[str, float]],
    report: Report,
) -> dict[str, Any]:
    scorer = _scorer()
    samples = scorer.load()
    everything = [each for sample in samples for each in scorer.questions(sample)]
    asked = [each for each in everything if (each.conv, each.q) in systems["served"]]

    def scored(ranking: Ranking, of: Callable[[Any], bool] = lambda _: True) -> Row:
        predicted = {key: scorer.Prediction(tuple(turns), abstained.get(key)) for key, turns in ranking.items()}
        found: Row = scorer.score([each for each in asked if of(each)], predicted)
        return found

    reports = {name: scored(ranking) for name, ranking in systems.items()}
    _show("all conversations", reports)
    parts = {
        "tuned on": lambda each: each.conv in TUNED_ON,
        "held out": lambda each: each.conv not in TUNED_ON,
    }
    apart = {part: {name: scored(ranking, of) for name, ranking in systems.items()} for part, of in parts.items()}
    for part, found in apart.items():
        _show(part, found)
    paired = {name: scorer.against(reports["served"], reports[name]) for name in ("BM25", "dense", "RRF")}
    table(
        "recall@10, served minus …",
        ("", "difference", "95 % interval"),
        [
            [name, f"{each['difference']:+.4f}", "{:+.4f} .. {:+.4f}".format(*each["ci95"])]
            for name, each in paired.items()
        ],
    )
    table(
        "recall@1 of 30 facts, by language",
        ("", *languages),
        [[name, *(f"{found[name]:.2f}" for found in languages.values())] for name in ("served", "dense")],
    )
    overall = reports["served"]["overall"]
    report.goal("recall@10", overall["recall@10"], least=0.70)
    report.goal("recall@10 by words only", reports["served, words only"]["overall"]["recall@10"], least=0.68)
    report.goal("recall@10 over BM25, lower end of the interval", paired["BM25"]["ci95"][0], least=0.001)
    for language, found in languages.items():
        report.goal(f"recall@1 in {language}, not under vectors alone", found["served"], least=found["dense"])
    report.stretch("recall@10", overall["recall@10"], least=0.75)
    report.stretch("recall@5", overall["recall@5"], least=0.65)
    return {
        "systems": {name: _figures(each) for name, each in reports.items()},
        "apart": {part: {name: _figures(each) for name, each in found.items()} for part, found in apart.items()},
        "paired": paired,
        "languages": languages,
        "abstention": reports["served"]["abstention"],
    }


def _show(title: str, reports: dict[str, Row]) -> None:
    metrics = ("recall@5", "recall@10", "mrr")
    categories = ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial")
    table(
        f"{title}: {next(iter(reports.values()))['n']} questions; recall@10 by category",
        ("", *metrics, *categories),
        [
            [name, *(f"{found['overall'][metric]:.4f}" for metric in metrics),
             *(f"{found['by_category'][category]['recall@10']:.3f}" for category in categories)]
            for name, found in reports.items()
        ],
    )  # fmt: skip


def _figures(found: Row) -> Row:
    categories = {name: each["recall@10"] for name, each in found["by_category"].items()}
    return {**found["overall"], "recall@10_ci95": found["recall@10_ci95"], "by_category": categories}


def main() -> int:
    try:
        locomo.directory()
    except UnusableFile as error:
        print(f"bench-locomo: {error}", file=sys.stderr)
        return 2
    return run("locomo", bench, arguments(__doc__))


if __name__ == "__main__":
    sys.exit(main())
