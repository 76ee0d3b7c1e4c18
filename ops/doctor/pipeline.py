"""Whether turns move: who works, what waits, what died, when the last one came."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nextlevel.inference import model_named
from nextlevel.queue import inspect
from nextlevel.queue.names import STAGES
from nextlevel.store import status
from nextlevel.store import vectors as store_vectors

from .finding import Finding, broken, ok, weak
from .patient import Patient

PARTS = ("ingest", *STAGES)
STUCK_S = 120.0
"""A turn that has waited this long, with nobody at work on it, does not merely wait."""

_LOG = "start `nextlevel work` if it does not run, else read its log (logs/work.log of the data directory)"


async def workers(patient: Patient) -> list[Finding]:
    link = "workers"
    async with patient.redis() as client:
        found = await inspect.workers(client)
    missing = [part for part in PARTS if not any(part in parts for parts in found.values())]
    if missing:
        cure = f"start `nextlevel up`, or `nextlevel work --only {','.join(missing)}`"
        return [broken(link, f"nobody runs {', '.join(missing)}", cure)]
    return [ok(link, f"{name} runs {', '.join(parts)}") for name, parts in sorted(found.items())]


async def vectors(patient: Patient) -> list[Finding]:
    """Memory's vectors are of the model that the settings name; and how many are still to be made."""
    link, named = "vectors", model_named(patient.settings)
    async with patient.pipeline() as conn:
        active = await store_vectors.active(conn)
        if active is None:
            return [ok(link, f"none yet; the first will be of {named}")]
        counted = await store_vectors.count(conn, active.model)
    if active.model != named:
        says = f"of {active.model}, while the settings name {named}"
        return [weak(link, says, f"run `nextlevel reembed`, or name {active.model} again")]
    says = f"{counted.all - counted.waiting} of {active.model}"
    return [ok(link, says + (f"; {counted.waiting} are still to be made" if counted.waiting else ""))]


async def turns(patient: Patient) -> list[Finding]:
    link = "turns"
    stages = (await _snapshot(patient))["stages"]
    async with patient.redis() as client:
        streams = (await inspect.snapshot(client))["streams"]
    unread = [found for found in streams.values() if found["oldest_s"] > STUCK_S]
    stuck = {
        state: found
        for state, found in stages.items()
        if found["oldest_s"] > STUCK_S and not found["running"] and found["delayed"] < found["waiting"]
    }
    if unread or stuck:
        says = [f"{found['entries']} wait for ingest, the oldest for {_span(found['oldest_s'])}" for found in unread]
        says += [
            f"{found['waiting']} stay {state}, the oldest for {_span(found['oldest_s'])}"
            for state, found in stuck.items()
        ]
        return [broken(link, each, _LOG) for each in says]
    waiting = sum(found["waiting"] for found in stages.values()) + sum(found["entries"] for found in streams.values())
    oldest = max(found["oldest_s"] for found in (*stages.values(), *streams.values()))
    return [ok(link, f"{waiting} on their way, the oldest for {_span(oldest)}" if waiting else "none waits")]


async def dead_letters(patient: Patient) -> list[Finding]:
    found = await _snapshot(patient)
    count = sum(found["dead_letters"].values())
    if not count:
        return [ok("dead letters", "none")]
    latest = found["latest_dead_letters"][0]
    return [
        weak("dead letters", f"{count}, the latest: {latest['code']}: {latest['reason']}", "see `nextlevel status`")
    ]


async def last_turn(patient: Patient) -> list[Finding]:
    installations = (await _snapshot(patient))["installations"]
    seen = [row for row in installations if row["last_seen"] is not None]
    if not seen:
        cure = "`nextlevel hermes install`, then `hermes memory setup nextlevel`, then say something to the agent"
        return [weak("last turn", "none has come yet", cure)]
    now = datetime.now(UTC)
    ages = {row["install"]: (now - row["last_seen"]).total_seconds() for row in seen[:5]}
    return [ok("last turn", f"{install}: {_span(age_s)} ago") for install, age_s in ages.items()]


async def _snapshot(patient: Patient) -> dict[str, Any]:
    async with patient.pipeline() as conn:
        return await status.snapshot(conn)


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{max(0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"
