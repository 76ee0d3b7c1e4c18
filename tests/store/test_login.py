"""The service's password is set on the server without being shown to it."""

import asyncpg

from nextlevel.store import login, migrate


def test_the_verifier_is_the_one_of_the_standard() -> None:
    """RFC 7677's own example; a wrong one would lock the service out."""
    made = login.verifier("pencil", bytes.fromhex("5b6d99689d12358eeca04b141236fa81"))
    assert made.startswith("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$")
    assert made.endswith("$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=")


async def test_postgres_takes_it_as_that_password(postgres) -> None:
    """It keeps the verifier as it is; tests/journeys/test_fleet.py logs in with such a password."""
    made = await postgres.empty_database()
    await migrate.migrate(made.admin_dsn)
    await login.set_password(made.admin_dsn, "pencil")
    conn = await asyncpg.connect(made.admin_dsn)
    kept = await conn.fetchval("SELECT rolpassword FROM pg_authid WHERE rolname = 'nextlevel_service'")
    await conn.close()
    await postgres.drop(made)
    assert kept.startswith("SCRAM-SHA-256$4096:")
