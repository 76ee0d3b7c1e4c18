"""How long does recall hold up a turn when what it asks is in trouble?

The real provider with its own deadline of 95 ms, in a home with a few hundred turns. Redis is real; the service is a
stand-in that answers in 5 ms, in 5 s, or never. What counts is the longest prefetch and which rung of the ladder gave
its answer; the breaker opens during a run, as it would.
"""

from __future__ import annotations

import argparse
import json
import logging
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from nextlevel.ops.up import place, valkey
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.provider import Provider
from nextlevel.settings import Settings, load

from . import ground
from .common import TIMES, Report, Times, arguments, run, table
from .talk import Talk

TURNS, TOLD_BEFORE = 150, 300
ANSWERS_IN_S, SLOW_S = 0.005, 5.0
LONGEST_MS = 150.0
"""The deadline, and what a busy machine may add until the thread runs again."""

Figures = dict[str, Any]


class Service(ThreadingHTTPServer):
    """Answers what it is asked with one line, after a while."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, after_s: float) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.after_s, self.closing = after_s, threading.Event()

    def server_close(self) -> None:
        self.closing.set()
        super().server_close()


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536  # one write an answer: two would wait for each other's acknowledgement
    server: Service

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.closing.wait(self.server.after_s)
        body = json.dumps({"context": f"# Recalled\n- it is {time.monotonic_ns()}"}).encode()
        try:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
        except ConnectionError:  # who asked has given up
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def service(after_s: float) -> Iterator[int]:
    """A service that answers so late; its port."""
    made = Service(after_s)
    threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield made.server_port
    finally:
        made.shutdown()
        made.server_close()


@contextmanager
def swallowing() -> Iterator[int]:
    """A port that takes connections and answers nothing, as where packets are lost."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:  # the kernel accepts, nobody reads
        yield int(listener.getsockname()[1])


@contextmanager
def nobody() -> Iterator[int]:
    """A port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong: the ports that the plugin is told, of the service and of Redis."""

    name: str
    service: int
    redis: str


async def bench(options: argparse.Namespace, report: Report) -> Figures:
    logging.disable(logging.WARNING)  # that things are down is what we asked for
    turns, before = (12, 20) if options.quick else (TURNS, TOLD_BEFORE)
    figures: Figures = {}
    with ground.directory() as root, ExitStack() as stack:
        data = place.prepare(root / "data")
        server = valkey.start(data)
        stack.callback(server.stop)
        fine, slow = stack.enter_context(service(ANSWERS_IN_S)), stack.enter_context(service(SLOW_S))
        away, lost = stack.enter_context(nobody()), stack.enter_context(swallowing())
        for each in (
            Trouble("nothing", fine, server.url),
            Trouble("Redis down", fine, f"redis://127.0.0.1:{away}"),
            Trouble("service down", away, server.url),
            Trouble("both down", away, f"redis://127.0.0.1:{away}"),
            Trouble("packets of both lost", lost, f"redis://127.0.0.1:{lost}"),
            Trouble("service slow by 5 s", slow, server.url),
        ):
            report.say(f"trouble: {each.name}")
            figures[each.name] = _turns(root, load(data_dir=data), each, turns, before, Talk(options.seed))
    return _told(figures, report)


def _turns(root: Path, settings: Settings, trouble: Trouble, turns: int, before: int, talk: Talk) -> Figures:
    url = f"http://127.0.0.1:{trouble.service}"
    name = "".join(letter for letter in trouble.name if letter.isalpha()).lower()
    path = ground.home(root, name, settings=settings, service_url=url, redis_url=trouble.redis)
    provider, recalled, kept = Provider(), list[float](), list[float]()
    rungs: Counter[str] = Counter()
    for number in range(before + turns):
        if number % 10 == 0:
            provider.initialize(f"session-{number}", hermes_home=str(path), platform="cli")
        said = talk.turn()
        if number >= before:
            since = time.perf_counter()
            provider.prefetch(talk.question())
            recalled.append(1000 * (time.perf_counter() - since))
            rungs[provider.last_recall.rung] += 1
        since = time.perf_counter()
        provider.sync_turn(said.user, said.assistant)
        if number >= before:
            kept.append(1000 * (time.perf_counter() - since))
    homes.of(path).finish(30)
    return {"prefetch": Times(recalled), "sync_turn": Times(kept), "rungs": dict(rungs)}


def _told(figures: Figures, report: Report) -> Figures:
    table(
        "prefetch, by what is in trouble, ms",
        ("", *TIMES, "answered by"),
        [[name, *found["prefetch"].row(), _counted(found["rungs"])] for name, found in figures.items()],
    )
    table(
        "sync_turn meanwhile, ms",
        ("", *TIMES),
        [[name, *found["sync_turn"].row()] for name, found in figures.items()],
    )
    for name, found in figures.items():
        report.goal(f"{name}: longest prefetch in ms", max(found["prefetch"].values), most=LONGEST_MS)
    return {
        name: {"rungs": found["rungs"], **{hook: found[hook].figures() for hook in ("prefetch", "sync_turn")}}
        for name, found in figures.items()
    }


def _counted(rungs: dict[str, int]) -> str:
    return ", ".join(f"{rung} {times}" for rung, times in rungs.items())


if __name__ == "__main__":
    sys.exit(run("ladder", bench, arguments(__doc__)))
