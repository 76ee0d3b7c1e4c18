"""The table of checks, in the order of a turn's way, and how they are run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

from nextlevel.errors import NextLevelError

from . import machine, pipeline, service, stores
from .canary import canary as send_canary
from .finding import Finding, State, broken, skipped
from .patient import Patient

_LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class Check:
    """One link, how it is looked at, and the links without which looking is idle."""

    link: str
    look: Callable[[Patient], Awaitable[Sequence[Finding]]]
    needs: tuple[str, ...] = ()


CHECKS = (
    Check("data directory", machine.data_directory),
    Check("embedded stores", machine.embedded_stores, needs=("data directory",)),
    Check("up", machine.running_up),
    Check("postgres", stores.postgres, needs=("up",)),
    Check("schema", stores.schema, needs=("postgres",)),
    Check("redis", stores.redis, needs=("up",)),
    Check("embedder", machine.embedder),
    Check("vectors", pipeline.vectors, needs=("schema",)),
    Check("model", machine.model),
    Check("workers", pipeline.workers, needs=("redis",)),
    Check("turns", pipeline.turns, needs=("schema", "redis")),
    Check("dead letters", pipeline.dead_letters, needs=("schema",)),
    Check("last turn", pipeline.last_turn, needs=("schema",)),
    Check("service", service.service, needs=("up",)),
    Check("agents", machine.agents),
)
CANARY = Check("canary", send_canary, needs=("service", "workers"))


async def examine(patient: Patient, *, canary: bool = False) -> AsyncIterator[Finding]:
    """Every link's findings, one link after the other."""
    out_of_order: set[str] = set()
    for check in (*CHECKS, CANARY) if canary else CHECKS:
        reasons = [link for link in check.needs if link in out_of_order]
        if reasons:
            findings: Sequence[Finding] = [skipped(check.link, f"not looked at before {reasons[0]} is mended")]
        else:
            findings = await look(check, patient)
        if any(finding.state in {State.BROKEN, State.SKIPPED} for finding in findings):
            out_of_order.add(check.link)
        for finding in findings:
            yield finding


async def look(check: Check, patient: Patient) -> Sequence[Finding]:
    """One link's findings; what stands in the way of looking is one too."""
    try:
        async with asyncio.timeout(_LONGEST_S):
            return await check.look(patient)
    except NextLevelError as error:  # its message has the cure
        return [broken(check.link, str(error), "")]
    except TimeoutError:
        return [broken(check.link, f"no answer within {_LONGEST_S:.0f} s", "see what this machine is busy with")]
