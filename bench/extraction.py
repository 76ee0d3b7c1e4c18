"""How fast the rules read, how long the worst message takes, what the pre-filter spares, what confidence is worth.

Time is CPU time of this process, which is one core: a busy machine makes it no longer. The sessions are our own
(tests/data/extraction); beside them those of the labelled file that DATA names, and LoCoMo's conversations where LOCOMO
names its directory.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nextlevel import jsonl
from nextlevel.errors import UnusableFile
from nextlevel.lang import detect
from nextlevel.model import Candidate, ToolCall, Turn
from nextlevel.ops.evaluate import locomo
from nextlevel.ops.evaluate.retrieval import Line
from nextlevel.safety.redact import redact
from nextlevel.workers.steps import classify, prefilter
from nextlevel.workers.steps.extract import Extraction, extract
from nextlevel.workers.steps.extract.rules import names
from nextlevel.workers.steps.pipeline import WINDOW_TURNS
from tests.support import labels

from . import ground, hostile
from .common import TIMES, Report, Times, arguments, run, table

GOAL_TURNS_S = 300.0
GOAL_WORST_MS = 200.0
GOAL_STOPPED, GOAL_COST = 0.60, 0.02
REVIEW_BELOW = 0.5
ROUNDS = 5
"""Times that all sessions are read for the speed; each begins with cold caches."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A turn of a labelled session, the turns before it, and what stands in it to be kept."""

    turn: Turn
    window: tuple[Turn, ...]
    session: str
    n: int
    golds: tuple[str, ...]


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    labelled = [*labels.sessions("tuned"), *labels.sessions("unseen")]
    readings = list(_readings(labelled))
    told = {"our own sessions": labelled}
    if (named := os.environ.get("DATA")) is not None:
        told["the sessions of DATA"] = labels.read(Path(named))
    else:
        report.say("DATA names no labelled file: our own sessions alone")
    report.say(f"{len(readings)} turns of {len(labelled)} sessions")
    _read(readings[0].turn, ())  # patterns are compiled at first use; a worker does so once in its life
    figures = {
        "speed": _speed(readings, report, 1 if options.quick else ROUNDS),
        "worst": _worst(options.seed, report, hostile.MIB // 8 if options.quick else hostile.PASTE),
        "prefilter": {name: _spared(name, each, report) for name, each in told.items()} | _talked(report),
        "calibration": {name: _calibration(name, each, report) for name, each in told.items()},
    }
    return figures


# ---- speed


def _speed(readings: Sequence[Reading], report: Report, rounds: int) -> dict[str, Any]:
    times = []
    for _ in range(rounds):
        _forget()
        times += [_took(lambda each=each: _read(each.turn, each.window)) for each in readings]
    found = Times(times)
    rate = 1_000 * len(times) / sum(times)
    table("one turn, pre-filter to classification, ms", ("", *TIMES), [["our own sessions", *found.row()]])
    report.goal("turns/s on one core", rate, least=GOAL_TURNS_S)
    return {"turns_s": round(rate, 1), **found.figures()}


def _worst(seed: int, report: Report, size: int) -> dict[str, Any]:
    """Each hostile message as the user's words, and as the answer that the next turn accepts."""
    at = datetime(2026, 5, 12, tzinfo=UTC)
    rows = []
    for name, text in hostile.messages(seed, size):
        said = Turn(id="bench:1", session="bench", ordinal=1, at=at, user_text=text, assistant_text="")
        yes = Turn(id="bench:2", session="bench", ordinal=2, at=at, user_text="yes, do that", assistant_text="")
        answered = Turn(id="bench:0", session="bench", ordinal=0, at=at, user_text="and now?", assistant_text=text)
        _forget()
        took = _took(lambda said=said: _read(said, ()))
        _forget()
        accepted = _took(lambda yes=yes, answered=answered: _read(yes, (answered,)))
        rows.append((max(took, accepted), name, took, accepted, len(text)))
    rows.sort(reverse=True)
    shown = [[name, f"{length:,}", f"{a:.1f}", f"{b:.1f}"] for _, name, a, b, length in rows[:10]]
    table("the ten slowest of the hostile messages, ms", ("", "characters", "said", "answered"), shown)
    report.goal("slowest hostile message, ms", rows[0][0], most=GOAL_WORST_MS)
    return {"ms": round(rows[0][0], 1), "message": rows[0][1], "messages": len(rows)}


def _took(act: Callable[[], object]) -> float:
    """Milliseconds of CPU time."""
    since = time.process_time()
    act()
    return 1_000 * (time.process_time() - since)


def _forget() -> None:
    """What was heard or named in one text helps nobody with the next: a stream of turns seldom repeats itself."""
    detect.forget()
    names.names.cache_clear()


# ---- what the pre-filter spares


def _spared(named: str, labelled: Sequence[labels.Row], report: Report) -> dict[str, Any]:
    readings = list(_readings(labelled))
    must = sum(gold["level"] == "must" for session in labelled for gold in session["gold"])
    missed = {line.split(" ")[0] for line in labels.score(labelled, list(_rows(readings))).missed}
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    empty = sum(not each.golds for each in readings) / len(readings)
    for name, asks in (("by points alone", _by_points), ("and by what the rules leave open", _open)):
        stopped = [each for each in readings if not asks(each)]
        share = len(stopped) / len(readings)
        # The rules read every turn that has points: only what they miss too is lost for want of a model.
        lost = sum(gold in missed for each in stopped for gold in each.golds) / must
        rows.append([name, f"{share:.1%}", f"{lost:.1%}"])
        figures[name.replace(" ", "_")] = {"stopped": round(share, 3), "recall_cost": round(lost, 4)}
    table(
        f"model calls that the pre-filter stops on {named} ({empty:.0%} of their turns hold nothing to keep)",
        ("", "stopped", "recall lost"),
        rows,
    )
    report.stretch(f"share of model calls stopped on {named}", share, least=GOAL_STOPPED)
    report.stretch(f"recall lost by it on {named}", lost, most=GOAL_COST)
    return figures


def _talked(report: Report) -> dict[str, Any]:
    """The same of LoCoMo's conversations, which hold no labels."""
    if (talk := _conversations()) is None:
        report.say("LOCOMO names no directory: its conversations are not read")
        return {}
    by_points, by_both = (sum(not asked for asked in each) / len(talk) for each in zip(*talk, strict=True))
    rows = [["by points alone", f"{by_points:.1%}"], ["and by what the rules leave open", f"{by_both:.1%}"]]
    table("model calls that it stops on LoCoMo's turns", ("", "stopped"), rows)
    return {"LoCoMo": {"by_points_alone": round(by_points, 3), "stopped": round(by_both, 3)}}


def _by_points(each: Reading) -> bool:
    return prefilter.score(each.turn).passes


def _open(each: Reading) -> bool:
    return _by_points(each) and bool(prefilter.left_open(each.turn, extract(each.turn, each.window)))


def _conversations() -> list[tuple[bool, bool]] | None:
    """Of each turn of LoCoMo, whether a model would be asked, by points and by what is left open; None without it."""
    with ground.directory() as root:
        try:
            lines = jsonl.read(locomo.extract("turns", root), Line)
        except UnusableFile:
            return None
    window: dict[str, list[Turn]] = defaultdict(list)
    asked = []
    for n, line in enumerate(lines):
        session = f"{line.conv}:{line.session}"
        at = line.at if line.at.tzinfo else line.at.replace(tzinfo=UTC)
        turn = Turn(id=f"bench:{n}", session=session, ordinal=n, at=at, user_text=line.text, assistant_text="")
        each = Reading(turn, tuple(window[session][-WINDOW_TURNS:]), session, n, ())
        asked.append((_by_points(each), _open(each)))
        window[session].append(turn)
    return asked


# ---- what confidence is worth


def _calibration(named: str, labelled: Sequence[labels.Row], report: Report) -> list[dict[str, Any]]:
    """Of the memories said to be so sure, how many are right."""
    readings = list(_readings(labelled))
    bands: dict[float, list[bool]] = defaultdict(list)
    for row, verdict in labels.score(labelled, list(_rows(readings))).verdicts:
        if verdict != "again":
            bands[int(row["confidence"] * 20 + 1e-9) / 20].append(verdict == "right")
    found = [
        {"said": said, "right": round(sum(right) / len(right), 3), "memories": len(right)}
        for said, right in sorted(bands.items())
    ]
    shown = [[f"{each['said']:.2f}", f"{each['right']:.2f}", str(each["memories"])] for each in found]
    table(f"confidence said (from), share that is right, memories, on {named}", ("said", "right", "n"), shown)
    off = sum(abs(each["said"] + 0.025 - each["right"]) * each["memories"] for each in found)
    total = sum(each["memories"] for each in found)
    report.say(f"expected calibration error {off / max(1, total):.3f} over {total} memories")
    return found


# ---- reading


def _readings(labelled: Iterable[labels.Row]) -> Iterator[Reading]:
    for session in labelled:
        window: list[Turn] = []
        for line in session["turns"]:
            turn = _turn(session["id"], line)
            golds = tuple(
                f"{session['id']}/{gold['id']}"
                for gold in session["gold"]
                if gold["turn"] == line["n"] and gold["level"] == "must"
            )
            yield Reading(turn, tuple(window[-WINDOW_TURNS:]), session["id"], line["n"], golds)
            window.append(turn)


def _turn(session: str, line: labels.Row) -> Turn:
    calls = tuple(
        ToolCall(each["name"], redact(each["args"]).text, redact(each["result"]).text, each.get("ok", True))
        for each in line.get("tools", ())
    )
    return Turn(
        id=f"{session}:{line['n']}",
        session=session,
        ordinal=line["n"],
        at=datetime.fromisoformat(line["at"]),
        user_text=redact(line["user"]).text,
        assistant_text=redact(line["assistant"]).text,
        tools=calls,
    )


def _read(turn: Turn, window: Sequence[Turn]) -> tuple[Candidate, ...]:
    if not prefilter.score(turn).passes:
        return ()
    found: Extraction = extract(turn, window)
    return tuple(classify.classify(each) for each in found.candidates)


def _rows(readings: Iterable[Reading]) -> Iterator[labels.Row]:
    """What the rules find, as a scorer reads it; nothing is merged or superseded here."""
    for each in readings:
        for found in _read(each.turn, each.window):
            if classify.needs_review(found, review_below=REVIEW_BELOW):
                continue
            yield {
                "session": each.session,
                "turn": each.n,
                "type": found.type,
                "subject": found.subject,
                "predicate": found.predicate.replace("_", " "),
                "object": found.object,
                "key": found.key,
                "value": found.value,
                "context": found.context,
                "confidence": found.confidence,
                "polarity": "-" if found.negated else "+",
            }


if __name__ == "__main__":
    raise SystemExit(run("extraction", bench, arguments(__doc__)))
