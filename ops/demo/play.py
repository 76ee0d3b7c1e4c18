"""The demo from start to end: own home and data, everything started, the month told, and what came of it shown."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.text import Text

from nextlevel.auth import OPERATOR, secret_of, token
from nextlevel.client import Client, Recalled, ScopeName
from nextlevel.errors import Misconfigured, Transient
from nextlevel.ops.up import lock, place, postgres, tree, valkey
from nextlevel.settings import Settings, load

from . import report, story
from .agent import Agent, install_plugin, started
from .month import Line, Probe, lines, probes, sessions
from .stages import View, standing

MARK = ".nextlevel-demo"
SETTLED_WITHIN_S = 60.0
WATCH_EVERY_S = 0.15
ASK_WITHIN_MS = 2_000
SERVED_TRIES = 60


class NotSettled(Transient):
    """Turns are still on their way; the logs tell what holds them up."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The demo's own directory: the stores' data, the agent's home, and a folder for each project that is worked on."""

    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def project(self, cwd: str) -> Path:
        """Where a project of the month lies here; a repository, so that the plugin knows it as a project."""
        folder = self.root / "src" / Path(cwd).name
        (folder / ".git").mkdir(parents=True, exist_ok=True)
        return folder


async def play(root: Path, console: Console, *, fresh: bool, keep: bool = False) -> None:
    """Play the month in the directory `root` (absolute), and show what is remembered. With `keep` it goes on running.

    Raises:
        Misconfigured: `root` holds something else, or something can't be started.
        AlreadyRunning: another demo runs in it.
        NotSettled: turns were still on their way after a minute.
    """
    month, questions = lines(), probes()
    ground = Ground(root)
    settings = prepare(ground, fresh=fresh)
    report.heading(console, "Starting everything, for this folder only")

    def progress(part: str, text: str) -> None:
        console.print(Text(f"  {part:<9} {text}"), highlight=False)

    async with tree.running(settings, progress=progress) as endpoints:
        await install_plugin(ground.home)
        progress("plugin", "installed into a Hermes home of its own")
        async with started(ground.home, ground.logs / "agent.log") as agent:
            client = Client(endpoints.service_url, token(secret_of(settings), OPERATOR))
            scope = ScopeName(install=_install_of(ground.home))
            await _tell(month, agent, client, scope, ground, console)
            await _recount(len(month), client, scope, console)
            await _show(month, questions, client, scope, console)
            await _measure(month, agent, console)
            await _point_to_dashboard(client, endpoints.service_url, console, keep=keep)
        if keep:
            await asyncio.Event().wait()  # until Ctrl-C
    report.heading(console, "Your own Hermes")
    for line in NEXT:
        console.print(f"  {line}", highlight=False, markup=False)


NEXT = (
    ".venv/bin/nextlevel up              everything, with data of your own",
    ".venv/bin/nextlevel hermes install  the plugin, into $HERMES_HOME",
    "hermes memory setup nextlevel       Hermes uses it from its next start",
    "make demo ARGS=--keep               this again, with the dashboard left running",
)


def prepare(ground: Ground, *, fresh: bool) -> Settings:
    """Make the demo's directory, empty if `fresh`, and settings that nothing of the person's own can reach."""
    for name in [name for name in os.environ if name.startswith("NEXTLEVEL_")]:
        del os.environ[name]
    os.environ["NEXTLEVEL_CONFIG_FILE"] = os.devnull
    if ground.root.exists() and any(ground.root.iterdir()) and not (ground.root / MARK).exists():
        raise Misconfigured(f"{ground.root} holds something else than a demo: choose another --dir")
    if fresh and ground.root.exists():
        _remove(ground)
    ground.home.mkdir(parents=True, exist_ok=True)
    (ground.root / MARK).touch()
    if os.geteuid() == 0:
        ground.root.chmod(0o711)  # root's servers run as another user, who must pass through
    os.environ["NEXTLEVEL_DATA_DIR"] = str(place.prepare(ground.data))  # for the commands that we start
    return load(serve_port=_free_port())


def _remove(ground: Ground) -> None:
    if ground.data.exists():
        with lock.held(ground.data):
            where = place.find(ground.data)
            # What a killed demo left running would go on in a directory that is no more: attach to it and stop it.
            for store in (postgres, valkey):
                if (where.home / store.__name__.rpartition(".")[2]).exists():
                    store.start(ground.data).stop()
            shutil.rmtree(where.home, ignore_errors=True)
    shutil.rmtree(ground.root)


async def _tell(
    month: list[Line], agent: Agent, client: Client, scope: ScopeName, ground: Ground, console: Console
) -> None:
    names = sessions(month)
    report.heading(console, f"A month: {len(month)} turns in {len(names)} sessions")
    told: Counter[str] = Counter()
    since = time.monotonic()
    with View(console) as view:
        async with _watching(view, agent, client, scope, told, len(month)):
            for name in names:
                session = [line for line in month if line.session == name]
                project = ground.project(session[0].cwd)
                view.say(f"  {report.day(session[0].at):>6}  {project.name:<19}{len(session)} × {session[0].user}")
                for line in session:
                    await agent.prefetch(line.session, line.user)
                    told[await agent.tell(line, project)] += 1
                # Days pass between sessions: what was said in one is remembered before the next begins.
                await settle(agent, client, ground.logs)
    took = time.monotonic() - since
    outcome = f"{told['kept']} told now, {told['known']} known from before"
    console.print(f"  {outcome}; all at their end after {took:.1f} s", highlight=False)


@asynccontextmanager
async def _watching(
    view: View, agent: Agent, client: Client, scope: ScopeName, told: Counter[str], total: int
) -> AsyncIterator[None]:
    async def watch() -> None:
        stored = 0
        while True:
            # A status that fails is no reason to stop: what is down is started again, and `settle` is the judge.
            with suppress(Transient):
                status = await asyncio.to_thread(client.status)
                now = standing(told.total(), total, await agent.waiting(), status)
                if view.in_place and now.counts.get("stored", 0) != stored:
                    stored = now.counts.get("stored", 0)
                    view.learnt(report.newest(await asyncio.to_thread(client.blocks, scope, status=("active",))))
                view.show(now)
            await asyncio.sleep(WATCH_EVERY_S)

    watcher = asyncio.create_task(watch())
    try:
        yield
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher


async def settle(agent: Agent, client: Client, logs: Path) -> None:
    """Wait until Postgres holds every turn and none is on its way.

    Raises:
        NotSettled: some are still on their way after a minute.
    """
    deadline = time.monotonic() + SETTLED_WITHIN_S
    while time.monotonic() < deadline:
        with suppress(Transient):
            now = standing(0, 0, await agent.waiting(), await asyncio.to_thread(client.status))
            if now.in_flight == 0:
                return
        await asyncio.sleep(WATCH_EVERY_S)
    raise NotSettled(f"turns are still on their way after {SETTLED_WITHIN_S:.0f} s; the logs say why: {logs}")


async def _recount(turns: int, client: Client, scope: ScopeName, console: Console) -> None:
    """Tell a few turns from what was said to what was kept of it."""
    traces = [await asyncio.to_thread(client.trace, f"{scope.install}:{number}") for number in range(1, turns + 1)]
    report.heading(console, "Said, kept, dropped: four turns of the month")
    for trace in story.telling(traces):
        console.print(story.turn(trace))


async def _point_to_dashboard(client: Client, url: str, console: Console, *, keep: bool) -> None:
    status = await asyncio.to_thread(client.status)
    ended = " · ".join(f"{turns} {state}" for state, turns in sorted(status["store"]["ended_today"].items()))
    letters = sum(status["store"]["dead_letters"].values())
    report.heading(console, "The dashboard" + ("" if keep else " (see it with --keep)"))
    console.print(f"  queues    nothing waits; ended: {ended}; dead letters: {letters}", highlight=False)
    console.print("  turns     each one's way, from its words to its blocks to the recalls that showed them")
    console.print("  memory    each block with its sources, what it replaced, and a button to forget it")
    if keep:
        console.print(f"  [bold]{url}/dashboard/[/bold]   Ctrl-C stops everything", highlight=False)


async def _show(month: list[Line], questions: list[Probe], client: Client, scope: ScopeName, console: Console) -> None:
    zone = datetime.fromisoformat(month[-1].at).tzinfo
    found = await asyncio.to_thread(client.blocks, scope, status=("active", "review", "superseded"))
    report.heading(console, f"What is remembered: {len(found)} blocks")
    console.print(report.blocks(found, zone))
    report.heading(console, "How it hangs together")
    console.print(report.graph(await asyncio.to_thread(client.graph, scope)))
    report.heading(console, f"Asked: {len(questions)} questions whose answers the month fixes")
    answers = [(probe, await asyncio.to_thread(partial(_ask, client, scope, probe))) for probe in questions]
    for probe, answer in answers:
        if probe.show:
            console.print(report.recall(probe, answer))
    console.print(report.score(answers))


def _ask(client: Client, scope: ScopeName, probe: Probe) -> Recalled:
    # As a prefetch, which must be right, but with time: how fast it is, is measured apart.
    return client.recall(probe.query, scope, mode="prefetch", as_of=probe.as_of, deadline_ms=ASK_WITHIN_MS)


async def _measure(month: list[Line], agent: Agent, console: Console) -> None:
    """Ask through the plugin what nobody has ever asked, and then the same again."""
    fresh = secrets.token_hex(3)  # no cache, nor one that an earlier run has filled, knows a query that ends in it
    queries = [f"{line.assistant} {fresh}" for line in month]
    for _ in range(SERVED_TRIES):  # on a busy machine the plugin may be resting from a service that was late
        if (await agent.prefetch("demo-first", fresh)).rung == "service":
            break
        await asyncio.sleep(WATCH_EVERY_S)
    # A session for each pass: within one, the plugin gives no line a second time.
    new = [await agent.prefetch("demo-new", query) for query in queries]
    for query in queries:  # where the vectors came too late, the answer is not kept; now they are there
        await agent.prefetch("demo-between", query)
    again = [await agent.prefetch("demo-again", query) for query in queries]
    report.heading(console, "How long a turn is held up")
    console.print(report.times({"asked before (hit)": again, "never asked (miss)": new}))


def _install_of(hermes_home: Path) -> str:
    install: str = json.loads((hermes_home / "nextlevel" / "config.json").read_text())["install"]
    return install


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
