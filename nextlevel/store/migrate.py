"""Bring a database to this version's schema: numbered files, each once, in order, under one lock."""

from __future__ import annotations

import hashlib
from importlib.resources import files

import asyncpg

from nextlevel.errors import Misconfigured

from .pool import translated

_LOCK = 0x6E6C_6D69  # any number, the same for all: two migrators at once take turns

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migrations (
  version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
GRANT SELECT ON schema_migrations TO PUBLIC;
"""


def available() -> list[tuple[int, str, str]]:
    """Each migration's number, name and text, oldest first."""
    found = []
    for path in files("nextlevel.store.migrations").iterdir():
        if path.name.endswith(".sql"):
            number, _, name = path.name.removesuffix(".sql").partition("_")
            found.append((int(number), name, path.read_text("utf-8")))
    return sorted(found)


async def migrate(dsn: str) -> list[str]:
    """Apply what is missing and return the names. `dsn` must be of a role that may create roles and tables.

    Raises:
        Misconfigured: the database is newer than this program, or an applied migration was edited afterwards.
        StoreUnreachable: nobody answers.
    """
    try:
        conn = await asyncpg.connect(dsn, timeout=10)
    except (OSError, asyncpg.PostgresError) as error:
        raise translated(error) from error
    try:
        async with conn.transaction():
            # For this transaction only: a pooler in transaction mode must not keep it.
            await conn.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
            await conn.execute(_LEDGER)
            rows = await conn.fetch("SELECT version, sha256 FROM schema_migrations")
            return await _apply_missing(conn, {row["version"]: row["sha256"] for row in rows})
    except (OSError, asyncpg.PostgresConnectionError) as error:
        raise translated(error) from error
    finally:
        await conn.close()


async def _apply_missing(conn: asyncpg.Connection[asyncpg.Record], applied: dict[int, str]) -> list[str]:
    ours = available()
    newer = sorted(set(applied) - {number for number, _, _ in ours})
    if newer:
        raise Misconfigured(
            f"the database has migration {newer[-1]}, which this program does not know: use a newer nextlevel"
        )
    done = []
    for number, name, text in ours:
        digest = hashlib.sha256(text.encode()).hexdigest()
        if number in applied:
            if applied[number] != digest:
                raise Misconfigured(
                    f"migration {number:04} {name} was changed after it had been applied; restore the file"
                )
            continue
        await conn.execute(text)
        await conn.execute(
            "INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)", number, name, digest
        )
        done.append(f"{number:04}_{name}")
    return done


async def check(dsn: str) -> None:
    """Refuse to start on a schema that is not this program's.

    Raises:
        Misconfigured: with the command that mends it.
    """
    try:
        conn = await asyncpg.connect(dsn, timeout=10)
        try:
            if not await conn.fetchval("SELECT to_regclass('schema_migrations') IS NOT NULL"):
                raise Misconfigured("the database has no schema yet: run `nextlevel migrate`")
            version = await conn.fetchval("SELECT max(version) FROM schema_migrations")
        finally:
            await conn.close()
    except (OSError, asyncpg.PostgresError) as error:
        raise translated(error) from error
    newest = available()[-1][0]
    if version < newest:
        raise Misconfigured(
            f"the database is at migration {version}, this program needs {newest}: run `nextlevel migrate`"
        )
    if version > newest:
        raise Misconfigured(f"the database is at migration {version}, newer than this program: use a newer nextlevel")
