"""The schema: one file to read, migrations to run, and no difference between the two."""

from pathlib import Path

import asyncpg
import pytest

from nextlevel.errors import Misconfigured
from nextlevel.store import migrate
from nextlevel.store.sql import SQL, queries

ROOT = Path(__file__).parents[2]
SQL_DIR = ROOT / "nextlevel" / "store" / "sql"

# Everything a role could notice: columns, constraints, indexes, policies, grants, functions.
CATALOG = """
SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
       || coalesce(column_default, '') FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace
UNION ALL SELECT 'index ' || indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'policy ' || tablename || ' ' || policyname || ' ' || coalesce(qual, '') || ' ' || roles::text
  FROM pg_policies WHERE schemaname = 'public'
UNION ALL SELECT 'rls ' || relname || ' ' || relrowsecurity || relforcerowsecurity FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
UNION ALL SELECT 'grant ' || table_name || ' ' || grantee || ' ' || privilege_type
  FROM information_schema.role_table_grants WHERE table_schema = 'public' AND grantee LIKE 'nextlevel%'
UNION ALL SELECT 'column grant ' || table_name || '.' || column_name || ' ' || grantee || ' ' || privilege_type
  FROM information_schema.column_privileges WHERE table_schema = 'public' AND grantee LIKE 'nextlevel%'
UNION ALL SELECT 'function ' || pg_get_functiondef(p.oid) || coalesce(p.proacl::text, '') FROM pg_proc p
  LEFT JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
  WHERE p.pronamespace = 'public'::regnamespace AND d.objid IS NULL
UNION ALL SELECT 'trigger ' || pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
"""


async def catalog(dsn: str) -> list[str]:
    conn = await asyncpg.connect(dsn)
    try:
        rows = await conn.fetch(CATALOG)
    finally:
        await conn.close()
    return sorted(row[0] for row in rows if "schema_migrations" not in row[0])


async def test_the_schema_file_and_the_migrations_make_the_same_database(postgres):
    """Whoever reads schema.sql reads what runs."""
    read, migrated = await postgres.empty_database(), await postgres.empty_database()
    conn = await asyncpg.connect(read.admin_dsn)
    await conn.execute((ROOT / "schema.sql").read_text())
    await conn.close()
    await migrate.migrate(migrated.admin_dsn)
    assert await catalog(migrated.admin_dsn) == await catalog(read.admin_dsn)
    await postgres.drop(read)
    await postgres.drop(migrated)


async def test_migrating_twice_applies_nothing_the_second_time(postgres):
    made = await postgres.empty_database()
    first = await migrate.migrate(made.admin_dsn)
    assert [f"{number:04}_{name}" for number, name, _ in migrate.available()] == first
    assert [] == await migrate.migrate(made.admin_dsn)
    await migrate.check(made.dsn)
    await postgres.drop(made)


async def test_a_database_without_schema_is_refused_with_the_command_that_mends_it(postgres):
    made = await postgres.empty_database()
    with pytest.raises(Misconfigured, match="nextlevel migrate"):
        await migrate.check(made.dsn)
    await postgres.drop(made)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("INSERT INTO schema_migrations VALUES (9999, 'future', '')", "newer"),
        ("UPDATE schema_migrations SET sha256 = 'other'", "changed after"),
    ],
)
async def test_a_database_from_another_program_version_is_refused(spoilt_database, statement, words):
    """An old program on a new schema, or an edited migration, would corrupt quietly."""
    conn = await asyncpg.connect(spoilt_database.admin_dsn)
    await conn.execute(statement)
    await conn.close()
    with pytest.raises(Misconfigured, match=words):
        await migrate.migrate(spoilt_database.admin_dsn)


async def test_a_program_newer_than_its_database_says_so(spoilt_database):
    conn = await asyncpg.connect(spoilt_database.admin_dsn)
    await conn.execute("UPDATE schema_migrations SET version = -version")
    await conn.close()
    with pytest.raises(Misconfigured, match="nextlevel migrate"):
        await migrate.check(spoilt_database.dsn)


@pytest.mark.parametrize("path", sorted(SQL_DIR.glob("*.sql")), ids=lambda path: path.stem)
async def test_every_named_query_prepares_against_the_schema(database, path):
    """A renamed column fails here in a second, not at night."""
    found = queries(path.read_text())
    assert found, "a file of queries has at least one"
    conn = await asyncpg.connect(database.admin_dsn)
    try:
        for name, text in found.items():
            assert text.rstrip().endswith(";"), f"{path.stem}.{name} ends with a semicolon"
            await conn.prepare(text)
            assert getattr(getattr(SQL, path.stem), name) == text
    finally:
        await conn.close()


async def test_the_service_login_owns_nothing_and_sees_nothing_by_itself(database):
    conn = await asyncpg.connect(database.dsn)
    try:
        owned = await conn.fetchval("SELECT count(*) FROM pg_class WHERE relowner = 'nextlevel_service'::regrole")
        assert 0 == owned
        for table in ("turns", "blocks", "block_words", "word_counts"):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await conn.fetch(f"SELECT * FROM {table}")  # noqa: S608
    finally:
        await conn.close()
