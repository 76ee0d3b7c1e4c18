"""Real stores for tests: one Postgres and one Valkey a run, clean for each test, and servers of one's own to kill.

They are started by nextlevel.ops.up, as on a laptop, in a short directory under /tmp that is named after this process.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil
from redis.asyncio import Redis

from nextlevel.ops.up import postgres, valkey

TEMP = Path("/tmp")  # short, for sockets, and open to the servers' user; pytest's own tmp_path is neither
TEMPLATE = "migrated"

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
_MIGRATIONS = "SELECT version || ' ' || sha256 FROM schema_migrations ORDER BY version"
_SEQUENCES_ANEW = "SELECT setval(oid, 1, false) FROM pg_class WHERE relkind = 'S';"
_END_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


def make_dir() -> Path:
    """A fresh data directory; `remove_dir` takes it away."""
    directory = Path(tempfile.mkdtemp(prefix=f"nl-{os.getpid()}-", dir=TEMP))
    directory.chmod(0o711)
    return directory


def remove_dir(directory: Path) -> None:
    """Stop what still runs in a data directory, and delete it."""
    for pid_file in (directory / "postgres" / "postmaster.pid", directory / "valkey" / "valkey.pid"):
        if (found := postgres.named_in(pid_file, pid_file.parent)) is not None:
            found.end(((signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)))
    shutil.rmtree(directory)


def remove_leftovers() -> None:
    """Clear what a test run that was killed left behind."""
    for directory in TEMP.glob("nl-*-*"):
        pid = directory.name.split("-")[1]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            with suppress(FileNotFoundError):  # another run clears it at the same time
                remove_dir(directory)


@dataclass(frozen=True, slots=True)
class Database:
    """One database: as the service sees it, and as the superuser does."""

    name: str
    dsn: str
    admin_dsn: str


class TestPostgres:
    """An embedded Postgres. `await start()` first; `stop`, `kill` and `start` again as a test needs."""

    __test__ = False

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._numbers = itertools.count(1)
        self._migrating = asyncio.Lock()
        self._shape: tuple[list[str], list[str]] | None = None
        self._emptied: list[Database] = []
        self._server: postgres.Postgres | None = None

    @property
    def server(self) -> postgres.Postgres:
        assert self._server is not None, "not started"
        return self._server

    @property
    def pid(self) -> int:
        return self.server.pid

    @property
    def dsn(self) -> str:
        return self.server.dsn

    @property
    def admin_dsn(self) -> str:
        return self.server.admin_dsn

    async def start(self) -> None:
        self._server = await asyncio.to_thread(postgres.start, self.data_dir)

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.stop)

    async def kill(self) -> None:
        """SIGKILL, as the kernel does when memory is short."""
        await asyncio.to_thread(self.server.process.end, ((signal.SIGKILL, 5.0),))

    async def hurry(self) -> None:
        """Give up durability against power loss, which no test can provoke, for speed."""
        await self.execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")

    async def database(self) -> Database:
        """A database with the whole schema and no row: one that `give_back` emptied, else a new one."""
        return self._emptied.pop() if self._emptied else await self.new_database()

    async def give_back(self, database: Database) -> None:
        """Empty a database for the next test: it takes a hundredth of the time that making one takes."""
        connection = await asyncpg.connect(database.admin_dsn)
        try:
            await connection.execute(_END_OTHERS)
            shape = await _shape(connection)
            assert shape == self._shape, "a test that alters the schema takes `spoilt_database`"
            filled = [table for table in shape[0] if table != "schema_migrations"]
            deletions = "".join(f"DELETE FROM {table};" for table in filled)  # noqa: S608 names of our own schema
            await connection.execute(f"SET session_replication_role = replica; {deletions} {_SEQUENCES_ANEW}")
        finally:
            await connection.close()
        self._emptied.append(database)

    async def new_database(self) -> Database:
        """A database of the test's own with the whole schema, cloned from a template that is migrated once a run."""
        async with self._migrating:
            if self._shape is None:
                self._shape = await self._make_template()
        made = self._named(f"test_{next(self._numbers)}")
        await self.execute(f"CREATE DATABASE {made.name} TEMPLATE {TEMPLATE}")
        return made

    async def empty_database(self) -> Database:
        """A fresh database without any schema."""
        made = self._named(f"empty_{next(self._numbers)}")
        await self.execute(f"CREATE DATABASE {made.name} TEMPLATE template0")
        return made

    async def drop(self, database: Database) -> None:
        await self.execute(f"DROP DATABASE {database.name} WITH (FORCE)")

    async def execute(self, *statements: str) -> None:
        """Run statements as superuser, each in a transaction of its own."""
        connection = await asyncpg.connect(self.admin_dsn)
        try:
            for statement in statements:
                await connection.execute(statement)
        finally:
            await connection.close()

    async def _make_template(self) -> tuple[list[str], list[str]]:
        """Make it; return its shape."""
        from nextlevel.store.migrate import migrate  # here, so that tests without a schema need no store

        await self.execute(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        admin_dsn = self._named(TEMPLATE).admin_dsn
        await migrate(admin_dsn)
        connection = await asyncpg.connect(admin_dsn)
        try:
            return await _shape(connection)
        finally:
            await connection.close()

    def _named(self, name: str) -> Database:
        sockets = self.server.place.sockets
        dsns = (postgres.address(sockets, role, name) for role in (postgres.SERVICE_ROLE, postgres.ADMIN_ROLE))
        return Database(name, *dsns)


async def _shape(connection: asyncpg.Connection) -> tuple[list[str], list[str]]:
    """What no test on a shared database may change: its tables, and its migrations."""
    tables, migrations = [[row[0] for row in await connection.fetch(query)] for query in (_TABLES, _MIGRATIONS)]
    return tables, migrations


class TestValkey:
    """An embedded Valkey. `await start()` first; `stop`, `kill` and `start` again as a test needs."""

    __test__ = False

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._server: valkey.Valkey | None = None

    @property
    def server(self) -> valkey.Valkey:
        assert self._server is not None, "not started"
        return self._server

    @property
    def pid(self) -> int:
        return self.server.pid

    @property
    def url(self) -> str:
        return self.server.url

    async def start(self) -> None:
        self._server = await asyncio.to_thread(valkey.start, self.data_dir)

    async def stop(self) -> None:
        await asyncio.to_thread(self.server.stop)

    async def kill(self) -> None:
        """SIGKILL, as the kernel does when memory is short."""
        await asyncio.to_thread(self.server.process.end, ((signal.SIGKILL, 5.0),))

    async def fresh(self) -> str:
        """Its address, after everything in it was thrown away."""
        async with Redis.from_url(self.url) as client:
            await client.flushall()
        return self.url
