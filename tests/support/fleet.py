"""The fleet of compose.yaml as plain processes: its commands, environments, secrets, probes; on 127.0.0.1."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from nextlevel.ops.up import place, postgres, valkey
from nextlevel.ops.up.process import wait_until
from tests.support.ports import free_port

ROOT = Path(__file__).parents[2]
NEXTLEVEL = "import sys; sys.argv[0] = 'nextlevel'; from nextlevel.ops.cli import main; main()"
STOPS_WITHIN_S = 10.0

Service = Mapping[str, Any]


def compose() -> dict[str, Any]:
    """compose.yaml, its anchors resolved."""
    found: dict[str, Any] = YAML(typ="safe").load(ROOT / "compose.yaml")
    return found


@dataclass(frozen=True, slots=True)
class Fleet:
    """Where the servers listen, and the secrets: each service sees those that it was given, and no other."""

    directory: Path
    home: Path
    ports: Mapping[str, int]

    @property
    def service_url(self) -> str:
        return f"http://127.0.0.1:{self.ports['serve']}"

    def environment(self, service: Service) -> dict[str, str]:
        """A service's own settings, and none of ours."""
        named = {"HERMES_HOME": str(self.home)}
        given = {name: _interpolated(str(value), named) for name, value in service.get("environment", {}).items()}
        for name, value in given.items():
            for host, port in (("postgres", 5432), ("redis", 6379)):
                value = value.replace(f"@{host}:{port}", f"@127.0.0.1:{self.ports[host]}")
                value = value.replace(f"//{host}:{port}", f"//127.0.0.1:{self.ports[host]}")
            given[name] = value
        if given.get("NEXTLEVEL_SECRETS_DIR"):
            given["NEXTLEVEL_SECRETS_DIR"] = str(self.secrets_of(service))
        return {**self._bare(), **given, "NEXTLEVEL_SERVE_PORT": str(self.ports["serve"])}

    def _bare(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NEXTLEVEL_", "HERMES_"))}
        nowhere = {"CONFIG_FILE": self.directory / "none.toml", "DATA_DIR": self.directory / "data"}
        return {**kept, **{f"NEXTLEVEL_{name}": str(path) for name, path in nowhere.items()}}

    def secrets_of(self, service: Service) -> Path:
        directory = self.directory / "-".join(["run", *service.get("secrets", ())])
        directory.mkdir(exist_ok=True)
        for name in service.get("secrets", ()):
            (directory / name).write_text(self.secret(name))
        return directory

    def secret(self, name: str) -> str:
        path = self.directory / name
        if not path.exists():
            path.write_text(secrets.token_hex(16))
        return path.read_text()

    @asynccontextmanager
    async def running(self, name: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """One of our roles, by the command that its container runs."""
        service = compose()["services"][name]
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", NEXTLEVEL, *service["command"]),
            env=self.environment(service),
            stdin=asyncio.subprocess.DEVNULL,
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                process.terminate()
                await asyncio.wait_for(process.wait(), STOPS_WITHIN_S)

    async def run(self, name: str) -> tuple[int, str]:
        """A service that ends by itself: its exit code, and what it printed."""
        service = compose()["services"][name]
        return await _run("-c", NEXTLEVEL, *service["command"], environment=self.environment(service))

    async def install_plugin(self) -> tuple[int, str]:
        """On the agent's machine, as the guide has it: the secret and the address are all that is needed."""
        told = {"NEXTLEVEL_SECRETS_DIR": str(self.secrets_of({"secrets": ["nextlevel_secret"]}))}
        environment = {**self._bare(), **told, "NEXTLEVEL_SERVICE_URL": self.service_url, "HERMES_HOME": str(self.home)}
        return await _run("-c", NEXTLEVEL, "hermes", "install", environment=environment)

    async def probe(self, name: str) -> int:
        """The exit code of a service's health check."""
        service = compose()["services"][name]
        _, program, *arguments = service["healthcheck"]["test"]
        assert "python" == program
        code, _ = await _run(*arguments, environment=self.environment(service))
        return code


async def _run(*arguments: str, environment: Mapping[str, str]) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *arguments),
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, said.decode()


@asynccontextmanager
async def with_servers(directory: Path, home: Path) -> AsyncIterator[Fleet]:
    """Postgres and Redis as the fleet has them: by TCP, Postgres with a password, Redis with its options."""
    fleet = Fleet(directory, home, {name: free_port() for name in ("postgres", "redis", "serve")})
    async with AsyncExitStack() as stack:
        for start in (_postgres, _redis):
            process = await asyncio.to_thread(start, fleet)
            stack.callback(process.wait)
            stack.callback(process.terminate)
        yield fleet


def _postgres(fleet: Fleet) -> subprocess.Popen[bytes]:
    """The embedded cluster, started anew by TCP; the superuser gets a password, as the image gives it one."""
    made = postgres.start(fleet.directory)
    cluster, programs = made.place.home / "postgres", postgres._programs(made.place)
    password = fleet.secret("nextlevel_postgres_admin_password")
    psql = [
        programs / "psql",
        "--quiet",
        "--host",
        made.place.sockets,
        "--username",
        "postgres",
        "--dbname",
        "postgres",
    ]
    subprocess.run([*psql, "--command", f"ALTER ROLE postgres PASSWORD '{password}'"], check=True)
    made.stop()
    (cluster / "pg_hba.conf").write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    port = str(fleet.ports["postgres"])
    argv = [programs / "postgres", "-D", cluster, "-h", "127.0.0.1", "-p", port, "-k", ""]
    process = subprocess.Popen(argv, cwd="/", **made.place.identity())
    probe = [programs / "pg_isready", "--quiet", "--host", "127.0.0.1", "--port", port]
    assert wait_until(lambda: 0 == subprocess.run(probe, check=False).returncode, 30)
    return process


def _redis(fleet: Fleet) -> subprocess.Popen[bytes]:
    where = place.find(fleet.directory)
    (fleet.directory / "redis").mkdir()
    _, *options = compose()["services"]["redis"]["command"]
    port = str(fleet.ports["redis"])
    argv = [valkey._program(where), *options, "--port", port, "--bind", "127.0.0.1", "--dir", fleet.directory / "redis"]
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    assert wait_until(partial(_listens, fleet.ports["redis"]), 30)
    return process


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return 0 == line.connect_ex(("127.0.0.1", port))


def _interpolated(value: str, named: Mapping[str, str]) -> str:
    """`${NAME:-default}` as compose does it; the default may hold one more."""
    return re.sub(r"\$\{(\w+):-((?:[^{}]|\$\{\w+\})*)\}", lambda found: named.get(found[1], found[2]), value)
