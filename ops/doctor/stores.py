"""Postgres, its schema, and Redis: there, fit for the work, and of the same time."""

from __future__ import annotations

from nextlevel.errors import QueueUnreachable, StoreUnreachable
from nextlevel.queue import inspect
from nextlevel.store import migrate
from nextlevel.store.server import server

from .finding import Finding, broken, ok, weak
from .patient import Patient

OLDEST_POSTGRES = 16
OLDEST_PGVECTOR = (0, 7)
"""The first with halfvec."""
LARGEST_SKEW_S = 5.0
"""Times of turns come from the agents' clocks, leases from Postgres's: this much disorder is harmless."""

_UP = "start `nextlevel up`, or the server that {variable} names"


async def postgres(patient: Patient) -> list[Finding]:
    link = "postgres"
    dsn = patient.settings.need_postgres()
    try:
        found = await server(dsn)
    except StoreUnreachable as error:
        return [broken(link, str(error), _UP.format(variable="NEXTLEVEL_POSTGRES_DSN"))]
    if found.major < OLDEST_POSTGRES:
        cure = f"move to Postgres {OLDEST_POSTGRES} or later: dump, and restore there"
        return [broken(link, f"Postgres {found.version} is too old", cure)]
    if found.pgvector is None:
        return [broken(link, "the extension vector is not in the database", "run `nextlevel migrate`")]
    if _numbers(found.pgvector) < OLDEST_PGVECTOR:
        cure = "install a newer pgvector, then: ALTER EXTENSION vector UPDATE"
        return [broken(link, f"pgvector {found.pgvector} is too old", cure)]
    says = f"{found.version}, pgvector {found.pgvector}, answers in {found.took_ms:.0f} ms"
    return [ok(link, says), *clock("Postgres", found.skew_s)]


async def schema(patient: Patient) -> list[Finding]:
    await migrate.check(patient.settings.need_postgres())
    return [ok("schema", f"at migration {migrate.available()[-1][0]}, as this program needs it")]


async def redis(patient: Patient) -> list[Finding]:
    link = "redis"
    try:
        async with patient.redis() as client:
            found = await inspect.server(client)
    except QueueUnreachable as error:
        return [broken(link, str(error), _UP.format(variable="NEXTLEVEL_REDIS_URL"))]
    findings = []
    if found.eviction != "noeviction":
        says = f"when memory is short it throws waiting turns away ({found.eviction})"
        findings.append(broken(link, says, "set `maxmemory-policy noeviction`"))
    if not found.on_disk:
        says = "what is queued is not on disk: after a restart it is sent again, minutes later"
        findings.append(weak(link, says, "set `appendonly yes`"))
    return [*(findings or [ok(link, f"{found.version}, nothing evicted, on disk")]), *clock("Redis", found.skew_s)]


def clock(whose: str, skew_s: float) -> list[Finding]:
    """Nothing where two clocks agree well enough."""
    if abs(skew_s) <= LARGEST_SKEW_S:
        return []
    direction = "ahead of" if skew_s > 0 else "behind"
    says = f"{whose}'s clock is {abs(skew_s):.0f} s {direction} this machine's"
    return [weak("clock", says, "let both machines keep time by NTP")]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
