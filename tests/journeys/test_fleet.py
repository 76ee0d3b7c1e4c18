"""The fleet: its file is what compose specifies, and its topology works. Run as processes; no container is claimed."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from importlib.metadata import version
from pathlib import Path

import pytest

from nextlevel.auth import OPERATOR, token
from nextlevel.client import Client, ScopeName
from nextlevel.producers.hermes.config import load
from tests.support import agent, stores
from tests.support.fleet import ROOT, Fleet, compose, with_servers

OURS = ("migrate", "serve", "worker-extract", "worker", "relay")


def test_the_file_is_what_the_compose_specification_says() -> None:
    """By the schema of the specification itself, as check-jsonschema carries it."""
    checker = Path(sys.executable).with_name("check-jsonschema")
    argv = [checker, "--builtin-schema", "vendor.compose-spec", ROOT / "compose.yaml"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout


@pytest.mark.skipif(
    shutil.which("docker") is None
    or subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode != 0,
    reason="docker compose is not on this machine",
)
def test_docker_compose_takes_the_file() -> None:
    """With every profile, since one that is not active is hardly looked at."""
    argv = ["docker", "compose", "--profile", "*", "config", "--quiet"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr


def test_every_service_is_bounded_watched_and_knows_no_secret_but_its_own() -> None:
    """A fleet that is left alone: nothing takes the whole machine, what hangs is seen, no worker can sign tokens."""
    services = compose()["services"]
    long_running = {name: each for name, each in services.items() if name != "migrate"}
    assert [] == [name for name, each in long_running.items() if "memory" not in each["deploy"]["resources"]["limits"]]
    assert ["relay"] == [
        name for name, each in long_running.items() if "healthcheck" not in each
    ]  # it exits if it can't
    assert {"migrate"} == {
        name for name in OURS if "nextlevel_postgres_admin_password" in services[name].get("secrets", ())
    }
    assert {"serve"} == {name for name in OURS if "nextlevel_secret" in services[name].get("secrets", ())}
    assert {"agent"} == set(services["relay"]["profiles"])
    assert {"gpu"} == {*services["model"]["profiles"], *services["embeddings"]["profiles"]}
    for name in OURS:
        assert services[name]["read_only"]
        assert ["ALL"] == services[name]["cap_drop"]


def test_all_parts_of_a_worker_are_run_by_some_service() -> None:
    """A part that nobody runs is a queue that nobody empties."""
    commands = [compose()["services"][name]["command"] for name in ("worker-extract", "worker")]
    assert [["work", "--only"]] * 2 == [command[:2] for command in commands]
    assert ["extract", "ingest", "link", "store"] == sorted(
        part for command in commands for part in command[2].split(",")
    )


def test_the_image_has_this_releases_tag() -> None:
    """Else an upgrade would go on with the image of before."""
    assert {f"hermes-nextlevel:{version('hermes-nextlevel')}"} == {
        compose()["services"][name]["image"] for name in OURS
    }


def test_the_image_is_built_from_what_the_context_holds() -> None:
    """.dockerignore leaves everything out but a list; what the wheel needs must be on it."""
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {"pyproject.toml", "constraints.txt", "README.md", "LICENSE", "CHANGELOG.md", "schema.sql"} <= allowed
    assert {"nextlevel", "ops", "producers", "workers"} <= allowed
    assert [] == [name for name in allowed if not (ROOT / name).exists()]


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    directory = stores.make_dir()
    home = tmp_path / "agent"
    home.mkdir()
    async with with_servers(directory, home.resolve()) as made:
        yield made
    stores.remove_dir(directory)


@pytest.mark.journey
async def test_a_turn_told_to_the_plugin_is_recalled_from_the_fleet(fleet: Fleet) -> None:
    """Each service as its container runs it: command, environment, secrets, probe; its servers by TCP."""
    code, said = await fleet.run("migrate")
    assert 0 == code, said
    assert "password of nextlevel_service set" in said
    async with AsyncExitStack() as stack:
        for name in OURS[1:]:
            await stack.enter_async_context(fleet.running(name))
        for name in ("serve", "worker-extract", "worker"):
            await _until(lambda name=name: _healthy(fleet, name))

        code, said = await fleet.install_plugin()
        assert 0 == code, said
        assert "by the relay of this machine" in said
        await agent.tell(fleet.home, "The intranet runs on port 8455.")

        config = load(fleet.home)
        client = Client(fleet.service_url, token(fleet.secret("nextlevel_secret").encode(), OPERATOR))
        await _until(lambda: _recalled(client, config.install, "8455"))


async def _recalled(client: Client, install: str, word: str) -> bool:
    scope = ScopeName(install=install)
    found = await asyncio.to_thread(client.recall, "Which port does the intranet run on?", scope)
    return word in found.context


async def _healthy(fleet: Fleet, name: str) -> bool:
    return 0 == await fleet.probe(name)


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await condition():
            await asyncio.sleep(0.2)
