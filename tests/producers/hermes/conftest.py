"""A home of the agent with an enrolled plugin, a service that answers as told, and a provider in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nextlevel.producers.hermes import home as homes
from nextlevel.producers.hermes.config import Config, save
from nextlevel.producers.hermes.provider import Provider
from nextlevel.wire import http, resp
from tests.support.service import Service, running

Enrol = Callable[..., homes.Home]


@pytest.fixture
def service() -> Iterator[Service]:
    with running() as made:
        yield made


@pytest.fixture
def enrol(tmp_path: Path) -> Iterator[Enrol]:
    """Write a home's configuration and give the process's Home for it."""
    made: list[homes.Home] = []

    def write(**fields: Any) -> homes.Home:
        path = (tmp_path / "Zuhause für 日本").resolve()  # as people name folders
        path.mkdir(exist_ok=True)
        # Patient: which rung answers must not depend on how busy the machine is.
        save(path, Config(**{"install": "k3v9wq", "home": str(path), "token": "tok", "prefetch_ms": 2_000, **fields}))
        made.append(homes.of(path))
        return made[-1]

    yield write
    for home in made:
        home.finish(30)
        home.database.close()
    for client in (*http._clients.values(), *resp._clients.values()):
        client.close()


@pytest.fixture
def agent() -> Callable[..., Provider]:
    """A provider as the host makes one."""

    def make(home: homes.Home, session: str = "s1", **more: Any) -> Provider:
        provider = Provider()
        provider.initialize(session, **{"hermes_home": str(home.path), "platform": "cli", **more})
        return provider

    return make
