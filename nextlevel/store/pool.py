"""The pool and its two doors. Each transaction takes a role for itself only; through no door comes more than it needs.

`pipeline()` moves turns, for all tenants, and sees no memory. `memory(scope)` reads and writes memory, walled by
row-level security to what `scope` names. Errors of the connection are translated here, in one place.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

import asyncpg
import pgvector.asyncpg

from nextlevel.errors import Misconfigured, StoreUnreachable
from nextlevel.model import Scope

if TYPE_CHECKING:
    from asyncpg.pool import PoolConnectionProxy

    Connection = PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.Connection

_ACQUIRE_S = 5
_COMMAND_S = 30

# SQLSTATE classes of which the cause passes: connection, resources, operator intervention, serialization and deadlock.
_TRANSIENT_CLASSES = ("08", "53", "57")
_TRANSIENT_STATES = ("40001", "40P01", "55P03")

# Begun and walled in one round trip: as text, which takes no parameters. Only names of roles and UUIDs get in.
_ENTER = """
BEGIN;
SELECT set_config('role', '{role}', true), set_config('nextlevel.tenant', '{tenant}', true),
       set_config('nextlevel.user', '{user}', true), set_config('nextlevel.scopes', '{{{scopes}}}', true)
"""


@dataclass(frozen=True, slots=True)
class Database:
    """A pool of connections to one Postgres. Open with `connect`, close with `close`."""

    pool: asyncpg.Pool[asyncpg.Record]

    @classmethod
    async def connect(cls, dsn: str, *, min_size: int = 1, max_size: int = 8) -> Database:
        """Open a pool. The schema must be there: see `migrate`. With `min_size` 0 nobody is asked yet.

        Raises:
            StoreUnreachable: nobody answers.
            Misconfigured: Postgres answers, but says no (login, database, no pgvector).
        """
        try:
            pool = await asyncpg.create_pool(
                dsn,
                min_size=min_size,
                max_size=max_size,
                init=_prepare,
                reset=_nothing_lasts,
                command_timeout=_COMMAND_S,
                timeout=_ACQUIRE_S,
            )
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise translated(error) from error
        return cls(pool)

    async def close(self) -> None:
        await self.pool.close()

    @asynccontextmanager
    async def pipeline(self) -> AsyncIterator[Connection]:
        """A transaction that may move every tenant's turns, and can see no memory."""
        async with self._transaction("nextlevel_pipeline", None, None, ()) as conn:
            yield conn

    @asynccontextmanager
    async def memory(self, scope: Scope) -> AsyncIterator[Connection]:
        """A transaction walled to one reader's tenant, user and scopes."""
        async with self._transaction("nextlevel_app", scope.tenant_id, scope.user_id, scope.readable) as conn:
            yield conn

    @asynccontextmanager
    async def _transaction(
        self, role: str, tenant: UUID | None, user: UUID | None, scopes: Sequence[UUID]
    ) -> AsyncIterator[Connection]:
        try:
            async with self.pool.acquire(timeout=_ACQUIRE_S) as conn:
                wall = ",".join(map(str, scopes))
                try:
                    await conn.execute(_ENTER.format(role=role, tenant=tenant or "", user=user or "", scopes=wall))
                    yield conn
                except BaseException:
                    if not conn.is_closed():
                        await conn.execute("ROLLBACK")
                    raise
                await conn.execute("COMMIT")
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise translated(error) from error


async def _prepare(conn: asyncpg.Connection[asyncpg.Record]) -> None:
    await conn.set_type_codec("jsonb", encoder=json.dumps, decoder=json.loads, schema="pg_catalog")
    try:
        await pgvector.asyncpg.register_vector(conn)
    except ValueError as error:  # the type is not there
        raise Misconfigured(f"{error}; run `nextlevel migrate`") from error


async def _nothing_lasts(conn: asyncpg.Connection[asyncpg.Record]) -> None:
    """Nothing is set for longer than a transaction, so that a connection needs no round trip to be as new."""


def translated(error: Exception) -> Exception:
    """Our error for one of the driver's: what may pass is StoreUnreachable; anything else is a bug and stays itself."""
    state: Any = getattr(error, "sqlstate", None)
    if isinstance(error, OSError):  # TimeoutError too
        return StoreUnreachable(f"Postgres does not answer: {error or type(error).__name__}")
    if isinstance(error, asyncpg.InvalidAuthorizationSpecificationError | asyncpg.InvalidCatalogNameError):
        return Misconfigured(f"Postgres refuses the login: {error}; check the DSN, and run `nextlevel migrate`")
    if isinstance(state, str) and (state[:2] in _TRANSIENT_CLASSES or state in _TRANSIENT_STATES):
        return StoreUnreachable(f"Postgres is not ready: {error}")
    if isinstance(error, asyncpg.InterfaceError):  # a connection that closed under us, a pool that is closing
        return StoreUnreachable(f"the connection to Postgres is gone: {error}")
    return error
