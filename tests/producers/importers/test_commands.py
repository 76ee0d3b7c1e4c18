"""`nextlevel import …`, as a person types it, on a home of the agent."""

from __future__ import annotations

import os
import pty
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nextlevel.errors import Misconfigured
from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes import status
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.hermes.home import Home
from nextlevel.producers.importers.commands import app
from tests.producers.hermes.test_provider import events

STORE = """
CREATE TABLE sessions (id, source, user_id, session_key, chat_id, chat_type, cwd, profile_name, parent_session_id,
                       model_config, started_at, rewind_count);
CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content, tool_calls, tool_call_id, timestamp,
                       observed, active, compacted);
INSERT INTO sessions (id, source, started_at) VALUES ('s1', 'cli', 1790000000);
INSERT INTO messages (session_id, role, content, timestamp, active, compacted)
     VALUES ('s1', 'user', 'I write in vim.', 1790000000, 1, 0), ('s1', 'assistant', 'Noted.', 1790000001, 1, 0);
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    path = (tmp_path / "agent").resolve()
    (path / "memories").mkdir(parents=True)
    save(path, Config(install="k3v9wq", home=str(path)))
    yield homes.of(path)
    homes.of(path).database.close()


def run(home: Home, what: str) -> str:
    done = CliRunner().invoke(app, [what, "--home", str(home.path)], catch_exceptions=False)
    assert 0 == done.exit_code, done.output
    return done.output


def test_past_sessions_come_in_and_it_is_told_how_many(home: Home) -> None:
    """A second run brings nothing."""
    with closing(sqlite3.connect(home.path / "state.db")) as store:
        store.executescript(STORE)
    assert "1 sessions: 1 turns brought in, 0 were known, 0 taken back, 0 off the record" in run(home, "hermes")
    assert "0 turns brought in" in run(home, "hermes")
    assert ["I write in vim."] == [event["user_text"] for event in events(home)]


def test_the_agents_own_memory_comes_in(home: Home) -> None:
    """Before the first turn brings it by itself; what was taken out since is taken back."""
    (home.path / "memories" / "USER.md").write_text("Prefers helix.\n§\nLives in Kiel.", encoding="utf-8")
    assert "2 entries brought in, 0 taken back" in run(home, "core")
    (home.path / "memories" / "USER.md").write_text("Prefers helix.", encoding="utf-8")
    home.counters.clear()
    assert "0 entries brought in, 1 taken back" in run(home, "core")
    assert ["core_write", "core_write", "retract"] == [event["kind"] for event in events(home)]


def test_a_terminal_shows_how_far_an_import_is(home: Home) -> None:
    """Years of sessions take minutes, in which a person must see that something moves."""
    with closing(sqlite3.connect(home.path / "state.db")) as store:
        store.executescript(STORE)
    code = "from nextlevel.ops.cli import main; main()"
    leader, follower = pty.openpty()
    try:
        subprocess.run(
            [sys.executable, "-c", code, "import", "hermes", "--home", home.path],
            check=True, stdout=subprocess.DEVNULL, stderr=follower, timeout=60, env=os.environ | {"TERM": "xterm"},
        )  # fmt: skip
        shown = os.read(leader, 65_536).decode()
    finally:
        os.close(leader)
        os.close(follower)
    assert "1/1 sessions, 1 turns" in shown


@pytest.mark.parametrize("what", ["hermes", "core"])
def test_a_paused_home_takes_nothing_in(home: Home, what: str) -> None:
    """A pause that an import could break would be none."""
    status.pause(home.path, True)
    with pytest.raises(Misconfigured, match="resume"):
        run(home, what)
    assert not home.has_database
