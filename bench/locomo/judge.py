"""What rankings are worth, by LoCoMo's own scorer: in tables, as goals, and each against the served one in pairs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from typing import Any

from nextlevel.errors import UnusableFile
from nextlevel.ops.evaluate import locomo

from ..common import Report, table
from .baselines import Ranking

TUNED_ON = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
SERVED, WORDS_ONLY = "served", "served, words only"

Row = dict[str, Any]


class Judge:
    """Scores rankings of the questions that `asked` names."""

    def __init__(self, asked: Ranking) -> None:
        self._scorer = _scorer()
        every = [each for sample in self._scorer.load() for each in self._scorer.questions(sample)]
        self.asked = [each for each in every if (each.conv, each.q) in asked]

    def score(
        self,
        ranking: Ranking,
        abstained: Mapping[tuple[str, int], bool] | None = None,
        of: Callable[[Any], bool] = lambda _: True,
    ) -> Row:
        """The scorer's report on a ranking, over the questions that `of` admits."""
        said = abstained or {}
        predicted = {key: self._scorer.Prediction(tuple(turns), said.get(key)) for key, turns in ranking.items()}
        found: Row = self._scorer.score([each for each in self.asked if of(each)], predicted)
        return found

    def against(self, ours: Row, theirs: Row) -> Row:
        """How much better we are in recall@10, question by question, with its bootstrap interval."""
        found: Row = self._scorer.against(ours, theirs)
        return found


def judge(
    systems: Mapping[str, Ranking],
    abstained: Mapping[tuple[str, int], bool],
    languages: Mapping[str, Mapping[str, float]],
    report: Report,
) -> Row:
    """Print every table, set the goals, and return the figures."""
    scores = Judge(systems[SERVED])
    reports = {name: scores.score(ranking, abstained) for name, ranking in systems.items()}
    show("all conversations", reports)
    parts: dict[str, Callable[[Any], bool]] = {
        "tuned on": lambda each: each.conv in TUNED_ON,
        "held out": lambda each: each.conv not in TUNED_ON,
    }
    apart = {
        part: {name: scores.score(ranking, of=of) for name, ranking in systems.items()}
        for part, of in parts.items()
        if any(map(of, scores.asked))
    }
    for part, found in apart.items():
        show(part, found)
    paired = {
        name: scores.against(reports[SERVED], found)
        for name, found in reports.items()
        if name not in (SERVED, WORDS_ONLY)
    }
    abstention = reports[SERVED]["abstention"]
    _show_paired(paired)
    _show_others(languages, abstention)
    _set_goals(reports, paired, languages, report)
    return {
        "systems": {name: _figures(each) for name, each in reports.items()},
        "apart": {part: {name: _figures(each) for name, each in found.items()} for part, found in apart.items()},
        "paired": paired,
        "languages": languages,
        "abstention": abstention,
    }


def show(title: str, reports: Mapping[str, Row]) -> None:
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


def _show_paired(paired: Mapping[str, Row]) -> None:
    table(
        "recall@10, served minus …",
        ("", "difference", "95 % interval"),
        [
            [name, f"{each['difference']:+.4f}", "{:+.4f} .. {:+.4f}".format(*each["ci95"])]
            for name, each in paired.items()
        ],
    )


def _show_others(languages: Mapping[str, Mapping[str, float]], abstention: Row) -> None:
    table(
        "recall@1 of 30 facts, by language",
        ("", *languages),
        [[name, *(f"{found[name]:.2f}" for found in languages.values())] for name in ("served", "dense")],
    )
    table(
        "declined, of the questions that have no answer and of those that have one",
        ("", "without", "with", "balanced accuracy"),
        [["served", *(f"{abstention[name]:.3f}" for name in
                      ("declined_of_5", "wrongly_declined_of_1_4", "balanced_accuracy"))]],
    )  # fmt: skip


def _set_goals(
    reports: Mapping[str, Row],
    paired: Mapping[str, Row],
    languages: Mapping[str, Mapping[str, float]],
    report: Report,
) -> None:
    overall = reports[SERVED]["overall"]
    report.goal("recall@10", overall["recall@10"], least=0.70)
    report.goal("recall@10 by words only", reports[WORDS_ONLY]["overall"]["recall@10"], least=0.68)
    for name, each in paired.items():
        report.goal(f"recall@10 over {name}, lower end of the interval", each["ci95"][0], least=0.001)
    for language, found in languages.items():
        report.goal(f"recall@1 in {language}, not under vectors alone", found["served"], least=found["dense"])
    report.stretch("recall@10", overall["recall@10"], least=0.75)
    report.stretch("recall@5", overall["recall@5"], least=0.65)


def _figures(found: Row) -> Row:
    categories = {name: each["recall@10"] for name, each in found["by_category"].items()}
    return {**found["overall"], "recall@10_ci95": found["recall@10_ci95"], "by_category": categories}


def _scorer() -> Any:
    spec = importlib.util.spec_from_file_location("locomo_scorer", locomo.directory() / "retrieval.py")
    if spec is None or spec.loader is None:
        raise UnusableFile("LoCoMo's scorer can't be read")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
