"""`nextlevel config`: what is set, from where, and nothing that is secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nextlevel.settings import Settings
from tests.support.command import nextlevel


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, str]:
    """A settings file and a directory of secrets, each with something in it."""
    file, secrets = tmp_path / "nextlevel.toml", tmp_path / "secrets"
    file.write_text("serve_port = 7800\n")
    secrets.mkdir()
    (secrets / "nextlevel_secret").write_text("hush")
    return {
        "NEXTLEVEL_CONFIG_FILE": str(file),
        "NEXTLEVEL_SECRETS_DIR": str(secrets),
        "NEXTLEVEL_POSTGRES_DSN": "postgresql://app:hush@db.lan/nextlevel",
    }


async def test_what_is_set_is_told_with_where_it_came_from(surroundings: dict[str, str], tmp_path: Path) -> None:
    """The first question when it does not do what one has set. Defaults stay out of the way."""
    code, said, _ = await nextlevel("--data-dir", str(tmp_path), "config", **surroundings)
    lines = [line.split() for line in said.splitlines()]
    assert 0 == code
    assert ["data_dir", "flag", str(tmp_path)] in lines
    assert ["serve_port", "settings", "file", "7800"] in lines
    assert ["secret", "secret", "file", "…"] in lines
    assert ["postgres_dsn", "environment", "postgresql://app:…@db.lan/nextlevel"] in lines
    assert "lease_s" not in said
    assert surroundings["NEXTLEVEL_CONFIG_FILE"] in said
    assert "hush" not in said


async def test_as_json_it_has_every_setting(surroundings: dict[str, str]) -> None:
    """For scripts; secrets stay out of it too."""
    code, said, _ = await nextlevel("config", "--json", **surroundings)
    found = json.loads(said)
    assert 0 == code
    assert Settings.model_fields.keys() == found.keys()
    assert {"value": 7800, "from": "settings file"} == found["serve_port"]
    assert {"value": 15, "from": "default"} == found["lease_s"]
    assert "hush" not in said
