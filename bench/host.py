"""Does a fact said on Monday reach the model on Sunday, and only whom it belongs to?

The real Hermes agent with the real plugin, a model server that answers by script, and the whole of `nextlevel up`
behind it. Four people (two profiles at the machine, two users of a gateway) have seven sessions each, one by one.
Facts are told on the first days, some corrected on the fourth, small talk between, and all are asked for on the last.
What counts is what stood in the request to the model. The clock is not moved: the days are minutes long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import asyncpg

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client
from nextlevel.errors import Misconfigured, Transient
from nextlevel.lang.tokens import estimate_tokens
from nextlevel.ops.up import tree
from nextlevel.producers.hermes import install
from nextlevel.settings import Endpoints, Settings

from . import ground
from .common import Report, arguments, run, table

ROOT = Path(__file__).parents[1]
DAYS = 7
PROBES = 15
CORRECTED = 3
CONTINUITY = 0.95
SETTLED_WITHIN_S = 120.0
RECALLED = re.compile(r"<memory-context>.*?\n\n(.*?)\n</memory-context>", re.DOTALL)

_PROJECTS = ("kranich", "blaufuchs", "seestern", "turmfalke", "waldkauz", "rotmilan", "eisvogel", "zaunkoenig")
_NAMES = ("Ada", "Bela", "Cleo", "Dario", "Edda", "Fenja", "Gustav", "Hanna", "Ivo", "Jule", "Kian", "Lotte")
_TECH = ("Kafka", "NestJS", "Django", "Terraform", "Svelte", "Flutter", "Grafana", "RabbitMQ", "Elixir", "Deno")
_TALK = ("morning, how are you?", "thanks, that was kind", "let us have a break", "all right, on we go")


@dataclass
class Fact:
    """What is told, how it is asked for, and the value that has to come back; `old` is what it replaced."""

    told: str
    asked: str
    value: str
    old: str = ""
    correction: str = ""


@dataclass
class Person:
    """One of four, with a home to speak in."""

    name: str
    home: Path
    identity: dict[str, str]
    facts: list[Fact] = field(default_factory=list)

    def session(self, day: int, messages: Sequence[str]) -> dict[str, Any]:
        return {"id": f"{self.name}-day-{day}", "messages": list(messages), "identity": self.identity}


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    chance = random.Random(options.seed)  # noqa: S311 - to be the same again, not to be secret
    probes = 3 if options.quick else PROBES
    async with AsyncExitStack() as stack:
        root = stack.enter_context(ground.directory())
        settings, endpoints = await stack.enter_async_context(ground.running(root, report, tree.ROLES))
        postgres = await asyncpg.connect(endpoints.postgres_admin_dsn)
        stack.push_async_callback(postgres.close)
        people = _people(root, settings, endpoints)
        values = _Values(chance)
        for person in people:
            person.facts = values.facts(probes)
        wire: dict[str, list[str]] = {}
        learnt = 0
        for day in range(1, DAYS + 1):
            report.say(f"day {day}")
            if day == DAYS:
                learnt = await postgres.fetchval("SELECT count(*) FROM blocks")
            for home in {person.home for person in people}:
                sessions = [each.session(day, _messages(each, day)) for each in people if each.home == home]
                wire |= await _host(home, sessions, echo=day == DAYS)
            await _settled(postgres)
        echoed = await postgres.fetchval("SELECT count(*) FROM blocks") - learnt
        rungs = await _rungs(postgres)
    figures = _judge(people, wire, rungs, report)
    report.goal("memories made of what recall had said (echo)", echoed, most=0)
    return {**figures, "echoed": echoed, "rungs_on_the_last_day": Counter(rungs.values())}


def _messages(person: Person, day: int) -> list[str]:
    """What one says on a day: facts on the first three, corrections on the fourth, questions on the last."""
    if day <= 3:
        return [_TALK[day], *(fact.told for fact in person.facts[day - 1 :: 3])]
    if day == 4:
        return [fact.correction for fact in person.facts if fact.correction]
    return [fact.asked for fact in person.facts] if day == DAYS else [_TALK[day % len(_TALK)]]


class _Values:
    """Facts with values that nobody else has, so that a leak shows."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._ports = iter(chance.sample(range(3_000, 9_999), 200))
        self._number = 0

    def facts(self, count: int) -> list[Fact]:
        made = [self._fact(number) for number in range(count)]
        for fact in made[: min(CORRECTED, count // 3) * 5 : 5]:
            port, subject = str(next(self._ports)), fact.told.partition(" runs")[0]
            fact.old, fact.value = fact.value, port
            fact.correction = f"{subject} runs on port {port} now."
        return made

    def _fact(self, number: int) -> Fact:
        self._number += 1
        thing = f"{self._chance.choice(_PROJECTS)}-{self._number}"
        kind = number % 5
        if kind == 0:
            port = str(next(self._ports))
            return Fact(f"{thing} runs on port {port}.", f"which port does {thing} run on?", port)
        if kind == 1:
            name = f"{self._chance.choice(_NAMES)}{self._number}"
            return Fact(f"{name} works on {thing}.", f"who works on {thing}?", name)
        if kind == 2:
            tech = f"{self._chance.choice(_TECH)}{self._number}"
            return Fact(f"{thing} uses {tech}.", f"what does {thing} use?", tech)
        if kind == 3:
            host = f"srv{self._number}.example"
            return Fact(f"{thing} is deployed on {host}.", f"where is {thing} deployed?", host)
        branch = f"release/{self._number}.0"
        return Fact(f"the branch of {thing} is {branch}.", f"which branch has {thing}?", branch)


def _people(root: Path, settings: Settings, endpoints: Endpoints) -> list[Person]:
    """Two profiles with a home each; the gateway serves its two users from the first."""
    first = (root / "hermes").resolve()
    second = first / "profiles" / "work"
    second.mkdir(parents=True)
    for home in (first, second):
        _enrol(home, settings, endpoints)
    telegram = {"platform": "telegram", "chat_type": "dm"}
    return [
        Person("default", first, {"platform": "cli"}),
        Person("work", second, {"platform": "cli"}),
        Person("ann", first, {**telegram, "user_id": "1001", "chat_id": "1001"}),
        Person("ben", first, {**telegram, "user_id": "1002", "chat_id": "1002"}),
    ]


def _enrol(home: Path, settings: Settings, endpoints: Endpoints) -> None:
    """As `nextlevel hermes install` does."""
    config = install.prepare(home, service_url=endpoints.service_url, redis_url=endpoints.redis_url)
    install.install(home, replace(config, token=token(secret_of(settings), config.install)))
    Client(endpoints.service_url, token(secret_of(settings), OPERATOR)).enrol(config.install)


async def _host(home: Path, sessions: Sequence[dict[str, Any]], *, echo: bool) -> dict[str, list[str]]:
    """Run sessions in the real agent; what went to the model, message by message."""
    script = ROOT / "tests" / "support" / "host" / "sessions.py"
    process = await asyncio.create_subprocess_exec(
        *(str(_hermes()), str(script), json.dumps({"sessions": sessions, "echo": echo})),
        env={**os.environ, "HERMES_HOME": str(home), "HOME": str(home)},
        cwd=home,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    if process.returncode:
        raise HostFailed(err.decode(errors="replace")[-2_000:])
    found: dict[str, list[str]] = json.loads(out)
    return found


def _hermes() -> Path:
    python = Path(os.environ.get("NEXTLEVEL_HERMES_PYTHON") or ROOT / ".hermes" / "bin" / "python")
    if not python.exists():
        raise Misconfigured(f"there is no Hermes at {python}: `make host` installs it")
    return python


class HostFailed(Transient):
    """The agent's process ended with an error; what it said follows."""


async def _settled(postgres: asyncpg.Connection) -> None:
    """Wait until every turn that has arrived is at its end, as it is by the next day."""
    ends = time.monotonic() + SETTLED_WITHIN_S
    quiet = 0
    while quiet < 3:
        if time.monotonic() > ends:
            left = await postgres.fetch("SELECT id, kind, state, reason FROM turns WHERE finished_at IS NULL LIMIT 5")
            raise HostFailed(f"turns are still being worked on after two minutes: {[tuple(row) for row in left]}")
        await asyncio.sleep(0.5)
        quiet = quiet + 1 if not await postgres.fetchval("SELECT count(*) FROM turns WHERE finished_at IS NULL") else 0


async def _rungs(postgres: asyncpg.Connection) -> dict[tuple[str, str], str]:
    """By which rung of the ladder each question of the last day was answered: by session and words."""
    rows = await postgres.fetch(
        "SELECT session, user_text, meta->>'recall' AS rung FROM turns WHERE kind = 'turn' AND session LIKE $1",
        f"%-day-{DAYS}",
    )
    return {(row["session"], row["user_text"]): row["rung"] for row in rows}


def _judge(
    people: Sequence[Person], wire: dict[str, list[str]], rungs: dict[tuple[str, str], str], report: Report
) -> dict[str, Any]:
    blocks = {name: [_recalled(text) for text in texts] for name, texts in wire.items()}
    found = corrected = asked = 0
    missed: list[str] = []
    stale: list[str] = []
    for person in people:
        # A line that an earlier question of the session brought stands in the conversation, and is not said again.
        told = ""
        for fact, recalled in zip(person.facts, blocks[f"{person.name}-day-{DAYS}"], strict=True):
            told += f"{recalled}\n"
            asked += 1
            found += (has := _holds(told, fact.value))
            corrected += bool(fact.old)
            if fact.old and (lines := [line for line in told.splitlines() if _holds(line, fact.old)]):
                stale.append(f"{fact.asked} {lines}")
            if not has:
                rung = rungs.get((f"{person.name}-day-{DAYS}", fact.asked))
                missed.append(f"{fact.correction or fact.told} ({fact.asked} {rung}: {recalled or 'nothing'})")
    leaks = sum(
        _holds(recalled, fact.value)
        for person in people
        for other in people
        if other is not person
        for fact in other.facts
        for day in range(1, DAYS + 1)
        for recalled in blocks[f"{person.name}-day-{day}"]
    )
    every = [recalled for texts in blocks.values() for recalled in texts]
    tokens = sum(map(estimate_tokens, every)) / len(every)
    report.goal("continuity: share of the facts that reached the model", found / asked, least=CONTINUITY)
    report.goal("values that reached another person's model", leaks, most=0)
    report.goal("corrected facts that came in their old form", len(stale), most=0)
    table(
        "a week of four people",
        ("", "n"),
        [["facts asked for on the last day", str(asked)], ["of these in the request to the model", str(found)],
         ["corrected facts", str(corrected)], ["of these in their old form", str(len(stale))],
         ["values of somebody else", str(leaks)],
         ["messages", str(len(every))], ["injected tokens a message, mean", f"{tokens:.1f}"]],
    )  # fmt: skip
    for name, those in (("missed", missed), ("old form", stale)):
        for each in those:
            print(f"  {name}: {each}", file=sys.stderr)
    return {
        **{
            "probes": asked,
            "found": found,
            "corrected": corrected,
            "stale": len(stale),
            "leaks": leaks,
        },
        **{"messages": len(every), "injected_tokens_mean": round(tokens, 1), "missed": missed},
    }


def _recalled(text: str) -> str:
    found = RECALLED.search(text)
    return found[1] if found else ""


def _holds(recalled: str, value: str) -> bool:
    return re.search(rf"(?<![\w.]){re.escape(value)}(?![\w])", recalled) is not None


if __name__ == "__main__":
    sys.exit(run("host", bench, arguments(__doc__)))
