"""`python -m bench.prefetch`"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from nextlevel.inference import open_embedder
from nextlevel.ops.up import tree
from nextlevel.settings import Endpoints, Settings

from .. import ground
from ..common import Report, arguments, run
from ..scopes import Memory, fill
from ..talk import Talk
from . import __doc__ as about
from . import endpoint, judge, peers, tiers
from .effort import Effort
from .scene import BESIDE, Scene

ROLES = tuple(role for role in tree.ROLES if role.name in {"serve", "work"})


async def bench(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    os.environ["OMP_NUM_THREADS"] = "1"  # as in each of our processes, see ops/up/tree.py
    effort = Effort.of(options.quick)
    sizes = [100] if options.quick else sorted(options.blocks)
    beside = 100 if options.quick else options.beside
    judged = max((size for size in sizes if size <= judge.JUDGED), default=sizes[0])
    figures: dict[str, Any] = {"beside": {"scopes": BESIDE, "blocks": beside}}
    with ground.directory() as root:
        figures["tier 2"] = tiers.short_term(root, effort, Talk(options.seed + 1), report)
        async with ground.running(root, report, ROLES) as (settings, endpoints):
            await _fill([Memory(f"scope{sizes[0]}", sizes[0])], settings, endpoints, report, options.seed)
            figures["tier 3"] = tiers.disk_use(settings, sizes[0])
            memories = [Memory(f"scope{size}", size) for size in sizes[1:]]
            memories += [Memory(f"beside{number}", beside) for number in range(BESIDE)]
            await _fill(memories, settings, endpoints, report, options.seed + 1)
            scene = Scene(root, settings, endpoints, report, effort, Talk(options.seed).question)
            async with scene.open(), peers.running(root, endpoints, f"scope{judged}", report) as others:
                for size in sizes:
                    beside_it = others if size == judged else {}
                    figures[f"{size} blocks"] = await scene.measure(size, f"scope{size}", beside_it)
                figures["tier 3"] |= await tiers.long_term(
                    settings, endpoints, scene, f"scope{judged}", f"beside{BESIDE - 1}"
                )
                figures["cold"] = await scene.cold(beside, [f"beside{number}" for number in range(effort.cold)])
                figures["busy worker"] = await scene.beside_a_busy_worker(
                    judged, f"scope{judged}", Talk(options.seed + 2)
                )
        figures["endpoint"] = await _with_endpoint(effort, judged, options, report)
    judge.judge(figures, sizes, judged, report)
    return figures


async def _with_endpoint(effort: Effort, size: int, options: argparse.Namespace, report: Report) -> dict[str, Any]:
    """The same questions, embedded before by the packaged model: an endpoint gives their vectors in 5 ms."""
    talk = Talk(options.seed + 3)
    questions = [talk.question() for _ in range(effort.from_endpoint)]
    report.say(f"embedding {len(questions)} questions for the endpoint")
    with ground.directory() as root:
        async with endpoint.running(questions) as base_url:
            more = {"embed_base_url": base_url, "embed_model": endpoint.MODEL}
            async with ground.running(root, report, ROLES, **more) as (settings, endpoints):
                await _fill([Memory(f"scope{size}", size)], settings, endpoints, report, options.seed)
                scene = Scene(root, settings, endpoints, report, effort, iter(questions).__next__)
                async with scene.open():
                    return await scene.calm(size, f"scope{size}")


async def _fill(memories: list[Memory], settings: Settings, endpoints: Endpoints, report: Report, seed: int) -> None:
    report.say(f"filling {len(memories)} scopes with {sum(memory.blocks for memory in memories)} blocks")
    embedder = open_embedder(settings)
    try:
        await fill(endpoints.postgres_dsn, endpoints.postgres_admin_dsn or "", embedder, memories, seed=seed)
    finally:
        await embedder.close()
    report.say("filled")


if __name__ == "__main__":
    parser = arguments(about)
    parser.add_argument(
        "--blocks", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="sizes of the scope asked"
    )
    parser.add_argument("--beside", type=int, default=10_000, help="blocks in each of the ten scopes beside it")
    sys.exit(run("prefetch", bench, parser))
