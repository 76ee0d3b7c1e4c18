"""Settings are read once, from four places in a fixed order, and a wrong one is told by its name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nextlevel import settings
from nextlevel.errors import Misconfigured
from nextlevel.settings import Settings

ENDPOINTS = {
    "pid": 4711,
    "postgres_dsn": "postgresql://service@/nextlevel?host=/run/x",
    "postgres_admin_dsn": "postgresql://postgres@/nextlevel?host=/run/x",
    "redis_url": "unix:///run/x/valkey.sock",
    "service_url": "http://127.0.0.1:7717",
}


@pytest.fixture(autouse=True)
def nobodys_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No setting of the person who runs the tests reaches them. Gives the path of the settings file."""
    for name in (*Settings.model_fields, "secrets_dir"):
        monkeypatch.delenv(f"NEXTLEVEL_{name.upper()}", raising=False)
    file = tmp_path / "config" / "nextlevel.toml"
    file.parent.mkdir()
    monkeypatch.setenv("NEXTLEVEL_CONFIG_FILE", str(file))
    return file


def test_the_settings_file_is_the_users_where_none_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo names another, so that what a person has set for their own memory can't reach it."""
    monkeypatch.delenv("NEXTLEVEL_CONFIG_FILE")
    assert ("nextlevel.toml", "nextlevel") == (settings.config_file().name, settings.config_file().parent.name)


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(
    nobodys_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nearer to the person who types, the stronger."""
    assert 7717 == settings.load().serve_port
    nobodys_settings.write_text("serve_port = 1001\n")
    assert 1001 == settings.load().serve_port
    monkeypatch.setenv("NEXTLEVEL_SERVE_PORT", "1002")
    assert 1002 == settings.load().serve_port
    assert 1003 == settings.load(serve_port=1003).serve_port


def test_a_flag_that_was_not_given_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line hands down None for every option that was left out."""
    monkeypatch.setenv("NEXTLEVEL_SERVE_PORT", "1002")
    assert 1002 == settings.load(serve_port=None, data_dir=None).serve_port


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("serve_port", "70000"),
        ("lease_s", "300"),
        ("log_level", "loud"),
        ("recall_tokens", "9999"),
        ("review_below", "2"),
    ],
)
def test_a_value_out_of_bounds_is_told_by_its_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error stops the start with the setting's name, instead of a strange behaviour at night."""
    monkeypatch.setenv(f"NEXTLEVEL_{name.upper()}", value)
    with pytest.raises(Misconfigured, match=name):
        settings.load()


def test_an_unknown_name_in_the_file_is_refused(nobodys_settings: Path) -> None:
    """A misspelt setting would otherwise be ignored, and its default be used without a word."""
    nobodys_settings.write_text("server_port = 1001\n")
    with pytest.raises(Misconfigured, match="server_port"):
        settings.load()


def test_settings_can_t_change_once_read() -> None:
    """Late configuration fails loudly: half the process would have the old value."""
    with pytest.raises(ValueError, match="frozen"):
        settings.load().serve_port = 1


def test_without_dsn_the_running_up_of_this_data_directory_is_found(tmp_path: Path) -> None:
    """`nextlevel recall` in another terminal needs no option."""
    (tmp_path / "endpoints.json").write_text(json.dumps(ENDPOINTS))
    found = settings.load(data_dir=tmp_path)
    assert found.embedded
    assert ENDPOINTS["postgres_dsn"] == found.need_postgres()
    assert ENDPOINTS["postgres_admin_dsn"] == found.need_admin()
    assert ENDPOINTS["redis_url"] == found.need_redis()
    assert ENDPOINTS["service_url"] == found.need_service()


def test_a_dsn_that_is_set_always_wins(tmp_path: Path) -> None:
    """Whoever names a server means it, also beside a running `up`; the admin then defaults to the same one."""
    (tmp_path / "endpoints.json").write_text(json.dumps(ENDPOINTS))
    found = settings.load(
        data_dir=tmp_path, postgres_dsn="postgresql://db/x", redis_url="redis://q", service_url="http://s"
    )
    assert not found.embedded
    assert ("postgresql://db/x", "postgresql://db/x") == (found.need_postgres(), found.need_admin())
    assert ("redis://q", "http://s") == (found.need_redis(), found.need_service())
    assert "postgresql://a/x" == settings.load(data_dir=tmp_path, postgres_admin_dsn="postgresql://a/x").need_admin()


def test_where_nothing_runs_the_message_says_what_to_start_and_what_to_set(tmp_path: Path) -> None:
    """The first thing a newcomer meets must name both ways out."""
    with pytest.raises(Misconfigured, match=r"nextlevel up.*NEXTLEVEL_POSTGRES_DSN"):
        settings.load(data_dir=tmp_path).need_postgres()


@pytest.fixture
def secret_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory as a container is given it, with one secret in it."""
    directory = tmp_path / "secrets"
    directory.mkdir()
    (directory / "nextlevel_postgres_password").write_text("p/w@1\n")
    monkeypatch.setenv("NEXTLEVEL_SECRETS_DIR", str(directory))
    return directory


def test_a_password_from_a_file_joins_the_address_that_has_none(secret_files: Path) -> None:
    """So that an address may stand in compose.yaml, where no secret belongs. One in the address is meant, and stays."""
    found = settings.load(postgres_dsn="postgresql://app@db:5432/nextlevel?sslmode=require")
    assert "postgresql://app:p%2Fw%401@db:5432/nextlevel?sslmode=require" == found.need_postgres()
    assert "p/w" not in repr(found)
    assert "postgresql://app:own@db/x" == settings.load(postgres_dsn="postgresql://app:own@db/x").need_postgres()


def test_the_admins_password_is_the_admins_alone(secret_files: Path) -> None:
    """The services of a fleet never get it; `migrate` does."""
    (secret_files / "nextlevel_postgres_admin_password").write_text("root")
    found = settings.load(postgres_dsn="postgresql://app@db/x", postgres_admin_dsn="postgresql://postgres@db/x")
    assert "postgresql://postgres:root@db/x" == found.need_admin()
    assert "root" not in found.need_postgres()


def test_a_secrets_directory_that_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount that failed must not end in a service with a secret of its own making."""
    monkeypatch.setenv("NEXTLEVEL_SECRETS_DIR", str(tmp_path / "gone"))
    with pytest.raises(Misconfigured, match=r"NEXTLEVEL_SECRETS_DIR is .*gone, which is no directory"):
        settings.load()


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """compose.yaml can only say NAME=${NAME:-}."""
    monkeypatch.setenv("NEXTLEVEL_REDIS_URL", "")
    assert settings.load().redis_url is None


@pytest.mark.parametrize("broken", ["serve_port =", "\xff\xfe"])
def test_a_settings_file_that_cannot_be_read_is_named(nobodys_settings: Path, broken: str) -> None:
    """Half written, or no TOML at all: the file's name is what a person needs."""
    nobodys_settings.write_bytes(broken.encode("latin-1"))
    with pytest.raises(Misconfigured, match=rf"can't be read: .* \(the file is {nobodys_settings}\)"):
        settings.load()


def test_each_value_tells_where_it_comes_from(
    nobodys_settings: Path, secret_files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`nextlevel config` shows it: the answer to "why does it not do what I set?"."""
    (tmp_path / "endpoints.json").write_text(json.dumps(ENDPOINTS))
    nobodys_settings.write_text('serve_port = 1001\nlog_level = "debug"\n')
    monkeypatch.setenv("NEXTLEVEL_LOG_LEVEL", "warning")
    found = settings.origins(settings.load(data_dir=tmp_path), flags={"data_dir"})
    assert {
        "data_dir": "flag",
        "log_level": "environment",
        "postgres_password": "secret file",
        "serve_port": "settings file",
        "redis_url": "running up",
        "homes": "default",
    }.items() <= found.items()


@pytest.mark.parametrize("broken", ["", "[]", '{"pid": 1}', "{"])
def test_a_broken_endpoints_file_is_told_with_its_path(broken: str, tmp_path: Path) -> None:
    """A disk that was full leaves half a file; the cure is in the message."""
    (tmp_path / "endpoints.json").write_text(broken)
    with pytest.raises(Misconfigured, match=r"endpoints\.json"):
        settings.load(data_dir=tmp_path).need_redis()


def test_a_secret_is_not_shown() -> None:
    """Settings are printed and logged; the signing secret must not be."""
    assert "hush" not in repr(settings.load(secret="hush"))


def test_every_setting_helps_to_choose() -> None:
    """The settings page is printed from these sentences."""
    for name, field in Settings.model_fields.items():
        assert (field.description or "").endswith("."), name


def test_roots_data_live_where_postgres_can_reach_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Postgres never runs as root, and the user it runs as can't look into root's home."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert Path("/var/lib/nextlevel") == settings.default_data_dir()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "nextlevel" == settings.default_data_dir().name
    assert Path("/var/lib/nextlevel") != settings.default_data_dir()
