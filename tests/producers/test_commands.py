"""`nextlevel hermes …`, as a person types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from nextlevel import auth
from nextlevel.errors import Misconfigured
from nextlevel.producers.commands import hermes
from nextlevel.producers.hermes.config import load
from nextlevel.producers.homes import registered
from nextlevel.settings import Settings


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = (tmp_path / "agent").resolve()
    made.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(made))
    monkeypatch.setenv("PATH", str(tmp_path))  # no Hermes: a bare Python checks
    return made


def run(*arguments: str) -> str:
    done = CliRunner().invoke(hermes, arguments, catch_exceptions=False)
    assert 0 == done.exit_code, done.output
    return done.output


def test_installing_enrols_the_home(home: Path, ours: Settings) -> None:
    """With a token for its own id, addresses for what is not running yet, and a place on the relay's list."""
    told = run("install")
    config = load(home)
    assert auth.proves(auth.secret_of(ours), config.install, config.token)
    assert ("http://127.0.0.1:7717", "") == (config.service_url, config.redis_url)
    assert [home] == registered(ours)
    assert "hermes memory setup nextlevel" in told
    assert config.token not in told


def test_addresses_can_be_named(home: Path, ours: Settings) -> None:
    """For a service elsewhere; and a repeated call keeps the enrolment."""
    run("install")
    before = load(home)
    run("install", "--service-url", "https://memory.example:8443", "--redis-url", "rediss://memory.example:6380")
    after = load(home)
    assert (before.install, before.token) == (after.install, after.token)
    assert ("https://memory.example:8443", "rediss://memory.example:6380") == (after.service_url, after.redis_url)


def test_a_profile_that_was_cloned_without_its_plugin_is_found(home: Path, ours: Settings) -> None:
    """The host clones the file that names us, and not the folder with us in it: that profile forgets all, silently."""
    bare, other = home / "profiles" / "work", home / "profiles" / "other"
    for each, provider in ((bare, "nextlevel"), (other, "honcho")):
        each.mkdir(parents=True)
        (each / "config.yaml").write_text(f"memory:\n  provider: {provider}\n")
    assert f"nextlevel hermes install --home {bare}" in run("install")
    told = run("status")
    assert ("profile work" in told, "profile other" in told) == (True, False)
    assert "profile work" not in run("install", "--profiles")
    assert sorted([home, bare, other]) == registered(ours)
    assert load(home).install != load(bare).install


def test_past_sessions_are_offered_where_there_are_some(home: Path, ours: Settings) -> None:
    """At the first start, by the words of the command; nobody's past is read unasked."""
    assert "nextlevel import hermes" not in run("install")
    (home / "state.db").touch()
    assert f"nextlevel import hermes --home {home}" in run("install")


def test_taking_it_out_ends_the_relays_work(home: Path, ours: Settings) -> None:
    """And says what to do in the host."""
    run("install")
    assert "hermes memory off" in run("uninstall")
    assert [] == registered(ours)
    assert (home / "nextlevel" / "config.json").exists()
    run("uninstall", "--purge")
    assert "there was no plugin" in run("uninstall")


def test_status_tells_the_state(home: Path, ours: Settings) -> None:
    """Without a token in it."""
    run("install", "--service-url", "http://127.0.0.1:9")
    told = run("status", "--home", str(home))
    assert load(home).install in told
    assert "none yet" in told
    assert load(home).token not in told


def test_a_home_that_is_not_there_is_told(ours: Settings, tmp_path: Path) -> None:
    """Not made: it would be a home that no agent reads."""
    with pytest.raises(Misconfigured, match="run `hermes` once"):
        run("install", "--home", str(tmp_path / "nowhere"))
