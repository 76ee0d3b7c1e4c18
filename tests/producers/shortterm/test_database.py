"""What waits for the disk and what does not, and who may open tier 2 at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from nextlevel.producers.shortterm.database import Database

FULL, NORMAL = 2, 1


def waits(database: Database, *, lasting: bool) -> int:
    """SQLite's own word for how a commit of such a transaction is brought to the disk."""
    with database.transaction(lasting=lasting) as connection:
        return int(connection.execute("PRAGMA synchronous").fetchone()[0])


def test_a_turn_waits_for_the_disk_whatever_was_written_before(tier2: Database) -> None:
    """Delivery notes may be lost in a power cut; the turn after them may not."""
    assert FULL == waits(tier2, lasting=True)
    assert NORMAL == waits(tier2, lasting=False)
    assert FULL == waits(tier2, lasting=True)


def test_a_connection_that_is_opened_again_waits_for_the_disk(tier2: Database) -> None:
    """What was set on the connection before says nothing about the new one."""
    assert NORMAL == waits(tier2, lasting=False)
    tier2.close()
    assert FULL == waits(tier2, lasting=True)
    assert NORMAL == waits(tier2, lasting=False)


def test_processes_that_open_a_new_home_at_once_wait_for_each_other(home: Path) -> None:
    """SQLite refuses the second switch to WAL at once, whatever its timeout: that turn would be lost."""
    code = (
        "import sys; from pathlib import Path\n"
        "from nextlevel.producers.shortterm.database import Database, path_of\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for n in range(20):\n"
        "    home = Path(sys.argv[1]) / str(n); db = Database(path_of(home), home=home, base='k3v9wq')\n"
        "    with db.transaction(): pass\n"
        "    db.close()\n"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for each in started:
        assert each.stdout is not None
        assert "ready\n" == each.stdout.readline()
    together = threading.Barrier(len(started))

    def go(process: subprocess.Popen[str]) -> None:
        together.wait(10)
        process.communicate("go\n", timeout=60)

    threads = [threading.Thread(target=go, args=(each,)) for each in started]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(70)
    assert [0, 0, 0] == [each.returncode for each in started]
