from __future__ import annotations

import asyncpg
import pytest

from nextlevel.errors import Misconfigured
from nextlevel.ops.up import postgres as embedded
from tests.support import stores


async def test_data_survive_a_killed_server(own_postgres: stores.TestPostgres) -> None:
    """A laptop runs out of memory or battery; what was committed is there at the next start."""
    await own_postgres.execute("CREATE TABLE kept (word text)", "INSERT INTO kept VALUES ('yes')")
    await own_postgres.kill()
    await own_postgres.start()
    connection = await asyncpg.connect(own_postgres.admin_dsn)
    try:
        assert await connection.fetchval("SELECT word FROM kept") == "yes"
    finally:
        await connection.close()


async def test_a_second_start_attaches_to_the_running_server(own_postgres: stores.TestPostgres) -> None:
    """`up` may be killed while its stores go on; the next one takes them over instead of failing on their lock."""
    pid = own_postgres.pid
    assert pid == embedded.start(own_postgres.data_dir).pid


async def test_sorting_is_the_same_on_every_system(postgres: stores.TestPostgres) -> None:
    """An index made on Linux must mean the same on a Mac, so collation is Postgres's own and never the C library's."""
    connection = await asyncpg.connect(postgres.admin_dsn)
    try:
        found = await connection.fetchrow(
            "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = current_database()"
        )
        assert tuple(found) == (b"b", "C.UTF-8")
        assert await connection.fetchval("SELECT lower('ÄÖÜ')") == "äöü"
    finally:
        await connection.close()


async def test_nothing_listens_on_the_network(postgres: stores.TestPostgres) -> None:
    """Inside the socket's directory everybody is trusted, so there must be no other way in."""
    connection = await asyncpg.connect(postgres.admin_dsn)
    try:
        assert await connection.fetchval("SHOW listen_addresses") == ""
    finally:
        await connection.close()
    assert postgres.server.place.sockets.stat().st_mode & 0o777 == 0o700


def test_a_directory_with_somebody_elses_files_is_refused(data_dir) -> None:
    """Elsewhere a restart re-made the database in place and all was lost; we never write into what isn't ours."""
    (data_dir / "postgres").mkdir()
    (data_dir / "postgres" / "holiday.jpg").touch()
    _give_away(data_dir / "postgres")
    with pytest.raises(Misconfigured, match=r"postgres holds files that aren't Postgres's"):
        embedded.start(data_dir)
    assert [path.name for path in (data_dir / "postgres").iterdir()] == ["holiday.jpg"]


def test_data_of_another_major_version_are_refused_and_left_alone(data_dir) -> None:
    """A newer release must not ruin old data; the message says which version made them."""
    (data_dir / "postgres").mkdir()
    (data_dir / "postgres" / "PG_VERSION").write_text("16\n")
    _give_away(data_dir / "postgres")
    with pytest.raises(Misconfigured, match=r"made by Postgres 16; this release runs 18"):
        embedded.start(data_dir)


def _give_away(directory) -> None:
    """As root, make a directory belong to the servers' user, as it would after an earlier start."""
    import shutil

    from nextlevel.ops.up.place import find

    if (user := find(directory.parent).user) is not None:
        shutil.chown(directory, user.pw_uid, user.pw_gid)
