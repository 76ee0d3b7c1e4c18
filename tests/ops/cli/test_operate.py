"""`up` and `migrate` from outside, on real stores."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from nextlevel.ops.up import lock, place
from tests.support import stores
from tests.support.command import nextlevel, process


async def test_migrate_names_what_it_applied_and_is_safe_to_repeat(postgres: stores.TestPostgres) -> None:
    """Run from a deploy script, again and again."""
    database = await postgres.empty_database()
    code, first, _ = await nextlevel("migrate", NEXTLEVEL_POSTGRES_DSN=database.admin_dsn)
    assert code == 0
    assert first.startswith("applied 0001_")
    assert (0, "up to date\n", "") == await nextlevel("migrate", NEXTLEVEL_POSTGRES_DSN=database.admin_dsn)


async def test_a_second_up_exits_with_1_and_the_pid(data_dir: Path) -> None:
    """It must not touch the first one's stores."""
    with lock.held(place.prepare(data_dir)):
        code, out, err = await process("--data-dir", str(data_dir), "up")
    assert (code, out) == (1, "")
    assert err == f"nextlevel: `nextlevel up` already runs in {data_dir} (pid {os.getpid()})\n"
    assert not (data_dir / "postgres").exists()


async def test_up_on_a_port_in_use_exits_with_2_and_the_setting(data_dir: Path) -> None:
    """Before the stores are started, so it is told at once."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, _, err = await process("--data-dir", str(data_dir), "up", "--port", port)
    assert code == 2
    assert f"port {port} on 127.0.0.1 is in use" in err
    assert "NEXTLEVEL_SERVE_PORT" in err
