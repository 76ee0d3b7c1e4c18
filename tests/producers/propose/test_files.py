"""The host's own files: its format, its limits, its lock; and what somebody else wrote meanwhile stays."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from nextlevel.errors import Conflict, UnusableFile
from nextlevel.producers.propose import files
from nextlevel.producers.propose.files import Change, read
from tests.producers.propose.conftest import Put


def test_an_entry_is_added_replaced_and_taken_out(home: Path, put: Put) -> None:
    """As the host joins them, and in their places."""
    file = put("memory", "one", "two", "three")
    file = file.write(Change("memory", new="four"))
    file = file.write(Change("memory", ("one", "three"), "one and three"))
    file = file.write(Change("memory", ("two",)))
    assert "one and three\n§\nfour" == (home / "memories" / "MEMORY.md").read_text()
    assert ("one and three", "four") == file.entries
    assert [] == [path for path in (home / "memories").iterdir() if path.suffix == ".tmp"]


def test_a_first_entry_makes_the_file(home: Path) -> None:
    """A fresh home has none."""
    file = read(home, "user")
    assert file is not None
    assert "USER.md: 0 of 1,375 characters (0%)" == file.usage
    file.write(Change("user", new="User lives in Kiel"))
    assert b"User lives in Kiel" == (home / "memories" / "USER.md").read_bytes()


def test_a_file_that_changed_meanwhile_is_left_alone(home: Path, put: Put) -> None:
    """The agent writes it in each conversation; what was shown as a diff must be what is written."""
    file = put("memory", "one")
    put("memory", "one", "the agent's own")
    with pytest.raises(Conflict, match=r"changed meanwhile; nothing was written"):
        file.write(Change("memory", new="two"))
    assert "one\n§\nthe agent's own" == (home / "memories" / "MEMORY.md").read_text()
    with pytest.raises(Conflict, match="holds no longer: 'gone'"):
        put("memory", "one").write(Change("memory", ("gone",)))


def test_it_waits_for_the_hosts_lock_but_not_for_ever(home: Path, put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host takes it for each write; one that hangs must not hang a terminal."""
    file = put("memory", "one")
    monkeypatch.setattr(files, "_LOCK_S", 0.05)
    with (home / "memories" / "MEMORY.md.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(UnusableFile, match="locked by another process"):
            file.write(Change("memory", new="two"))
    file.write(Change("memory", new="two"))
    assert "one\n§\ntwo" == (home / "memories" / "MEMORY.md").read_text()


def test_the_hosts_limit_counts(home: Path, put: Put) -> None:
    """Also one that a person set; and a file that is too long already may get shorter."""
    (home / "config.yaml").write_text("memory:\n  provider: nextlevel\n  memory_char_limit: 10\n")
    with pytest.raises(Conflict, match="10 are the host's limit"):
        put("memory", "12345").write(Change("memory", new="678"))
    put("memory", "12345", "67890", "abc").write(Change("memory", ("abc",)))
    assert "12345\n§\n67890" == (home / "memories" / "MEMORY.md").read_text()


def test_a_file_that_is_off_in_the_host_is_not_there(home: Path, put: Put) -> None:
    """No prompt would hold what is written to it."""
    put("user", "one")
    (home / "config.yaml").write_text("memory:\n  user_profile_enabled: false\n")
    assert read(home, "user") is None
    assert read(home, "memory") is not None


def test_what_a_person_wrote_into_it_is_not_rewritten(home: Path, put: Put) -> None:
    """As the host does; a new entry behind it is."""
    path = home / "memories" / "MEMORY.md"
    path.write_text("one\n§\n  two, indented by hand\n§\nthree")
    file = read(home, "memory")
    assert file is not None
    with pytest.raises(UnusableFile, match="edited by hand"):
        file.write(Change("memory", ("one",)))
    assert "one\n§\n  two, indented by hand\n§\nthree" == path.read_text()
    file.write(Change("memory", new="four"))
    assert path.read_text().endswith("\n§\nfour")


def test_a_link_stays_a_link(home: Path, put: Put, tmp_path: Path) -> None:
    """Some keep these files under version control elsewhere."""
    real, path = tmp_path / "dotfiles.md", home / "memories" / "USER.md"
    real.write_text("one")
    path.symlink_to(real)
    file = read(home, "user")
    assert file is not None
    file.write(Change("user", new="two"))
    assert path.is_symlink()
    assert "one\n§\ntwo" == real.read_text()


def test_a_file_that_is_no_text_is_told(home: Path) -> None:
    """Its bytes are not replaced by question marks."""
    (home / "memories" / "MEMORY.md").write_bytes(b"caf\xe9")
    with pytest.raises(UnusableFile, match="not UTF-8"):
        read(home, "memory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_home_that_cant_be_written_is_told(home: Path, put: Put) -> None:
    """With the path and the reason."""
    file = put("memory", "one")
    (home / "memories").chmod(0o500)
    with pytest.raises(UnusableFile, match="can't be"):
        file.write(Change("memory", new="two"))
    (home / "memories").chmod(0o700)
