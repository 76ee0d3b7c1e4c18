"""Whose memory: from an installation, a principal and a profile to a scope. Never from a session or an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from nextlevel.errors import NotFound, UnknownInstallation
from nextlevel.event import base_install
from nextlevel.model import Scope

from .pool import Connection
from .sql import SQL


@dataclass(frozen=True, slots=True)
class Person:
    """A scope with the names that a person knows it by."""

    tenant: str
    user: str
    scope: Scope


LOCAL = "local"  # the tenant, user and principal of whoever runs `nextlevel up` for themselves


async def resolve(conn: Connection, install: str, *, profile: str, principal: str, accept_unenrolled: bool) -> Scope:
    """The scope that an installation's principal owns under one profile; its rows are made at first contact.

    Raises:
        UnknownInstallation: nobody enrolled `install` or its base, or it was revoked.
    """
    tenant_id, owner_id = await _owner(conn, install, accept_unenrolled=accept_unenrolled)
    user_id = owner_id
    if principal != LOCAL:
        user_id = await _principal(conn, tenant_id, base_install(install), principal)
    return Scope(
        tenant_id=tenant_id,
        user_id=user_id,
        profile=profile,
        profile_scope=await _get_or_make(conn, SQL.scopes.scope, tenant_id, user_id, profile),
        user_scope=await _get_or_make(conn, SQL.scopes.scope, tenant_id, user_id, None),
    )


async def enrol(conn: Connection, install: str, *, tenant: str = LOCAL, user: str = LOCAL) -> None:
    """Let an installation's turns in, as this tenant's user; both are made if they are not there."""
    tenant_id = await _get_or_make(conn, SQL.scopes.tenant, tenant)
    user_id = await _get_or_make(conn, SQL.scopes.user, tenant_id, user)
    await conn.execute(SQL.scopes.enrol, install, base_install(install), tenant_id, user_id)


async def owner_names(conn: Connection, install: str) -> tuple[str, str]:
    """The tenant and user that an enrolled installation belongs to."""
    row = await conn.fetchrow(SQL.scopes.owner_names, install)
    if row is None:
        raise UnknownInstallation(f"nobody enrolled {install!r}")
    return row["tenant"], row["user"]


async def raise_generations(conn: Connection, scope: Scope, scopes: Iterable[UUID]) -> dict[UUID, int]:
    """Make every cached answer of these scopes stale with this transaction's commit; the new generations."""
    # In order, so that two transactions that raise the same pair can't deadlock.
    rows = await conn.fetch(SQL.scopes.raise_generations, scope.tenant_id, sorted(scopes))
    return {row["scope_id"]: row["generation"] for row in rows}


async def generations(conn: Connection) -> dict[UUID, int]:
    """The generations of all scopes in use."""
    return {row["scope_id"]: row["generation"] for row in await conn.fetch(SQL.scopes.generations)}


async def without_vectors(conn: Connection, model: str) -> list[Scope]:
    """Walls behind which blocks wait for their vectors, each around one scope."""
    rows = await conn.fetch(SQL.scopes.without_vectors, model)
    return [wall_of(row) for row in rows]


def scope_of(row: asyncpg.Record) -> Scope:
    """What one profile of a person reads, from a row that names it."""
    return Scope(row["tenant_id"], row["user_id"], row["profile"], row["profile_scope"], row["user_scope"])


def wall_of(row: asyncpg.Record) -> Scope:
    """A wall around the one scope that a row names."""
    return Scope(row["tenant_id"], row["user_id"], "", row["scope_id"], row["scope_id"])


async def people(conn: Connection, *, limit: int) -> list[Person]:
    """Whose memory there is, by name (inside `Database.pipeline`)."""
    return [_person(row) for row in await conn.fetch(SQL.scopes.people, None, limit)]


async def person(conn: Connection, profile_scope: UUID) -> Person:
    """Whose a profile's scope is (inside `Database.pipeline`).

    Raises:
        NotFound: there is no such scope.
    """
    row = await conn.fetchrow(SQL.scopes.people, profile_scope, 1)
    if row is None:
        raise NotFound(f"there is no profile with the scope {profile_scope}")
    return _person(row)


def _person(row: asyncpg.Record) -> Person:
    return Person(row["tenant"], row["user"], scope_of(row))


async def _owner(conn: Connection, install: str, *, accept_unenrolled: bool) -> tuple[UUID, UUID]:
    row = await conn.fetchrow(SQL.scopes.owner_of, install, base_install(install))
    if row is None and accept_unenrolled:
        await enrol(conn, install)
        row = await conn.fetchrow(SQL.scopes.owner_of, install, base_install(install))
    if row is None:
        raise UnknownInstallation(f"nobody enrolled {install!r}: run `nextlevel hermes install` where the agent lives")
    if row["revoked_at"] is not None:
        raise UnknownInstallation(f"{install!r} was revoked")
    if row["install"] != install:
        await conn.execute(SQL.scopes.enrol, install, row["base"], row["tenant_id"], row["user_id"])
    return row["tenant_id"], row["user_id"]


async def _principal(conn: Connection, tenant_id: UUID, base: str, principal: str) -> UUID:
    found: UUID | None = await conn.fetchval(SQL.scopes.principal, base, principal)
    if found is None:
        found = await _get_or_make(conn, SQL.scopes.user, tenant_id, f"{base}/{principal}")
        await conn.execute(SQL.scopes.add_principal, base, principal, tenant_id, found)
    return found


async def _get_or_make(conn: Connection, query: str, *args: object) -> UUID:
    found: UUID | None = await conn.fetchval(query, *args)
    if found is None:  # another transaction made the row after our snapshot: the next statement sees it
        found = await conn.fetchval(query, *args)
    if found is None:
        raise AssertionError("a row is neither there nor can be made")
    return found
