"""The password of the service's role, for a Postgres that asks for one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from base64 import b64encode

import asyncpg

from .pool import translated

ROLE = "nextlevel_service"
_ROUNDS = 4096  # Postgres's own default


async def set_password(dsn: str, password: str) -> None:
    """Let nextlevel_service log in with this password. `dsn` is of a role that may alter it; `migrate` made the role.

    Raises:
        StoreUnreachable: nobody answers.
    """
    try:
        conn = await asyncpg.connect(dsn, timeout=10)
    except (OSError, asyncpg.PostgresError) as error:
        raise translated(error) from error
    try:
        await conn.execute(f"ALTER ROLE {ROLE} PASSWORD '{verifier(password, secrets.token_bytes(16))}'")
    finally:
        await conn.close()


def verifier(password: str, salt: bytes) -> str:
    """What Postgres keeps of a password (SCRAM-SHA-256). Made here, so that no log of statements has the password."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ROUNDS)
    stored_key = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server_key = hmac.digest(salted, b"Server Key", "sha256")
    parts = (b64encode(part).decode() for part in (salt, stored_key, server_key))
    return "SCRAM-SHA-256${}:{}${}:{}".format(_ROUNDS, *parts)
