"""A folder of notes, the real service that keeps them, and a worker whose stages run when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nextlevel.auth import OPERATOR, token
from nextlevel.client import Client, ScopeName
from nextlevel.producers.importers.markdown import Progress, bring
from tests.api.conftest import SECRET, serving, settings_for
from tests.support.serving import on_a_socket
from tests.support.stores import Database, TestValkey
from tests.workers.conftest import bench

__all__ = ["NELE", "Vault", "bench", "folder", "vault"]

NELE = ScopeName()


@dataclass
class Vault:
    """A folder, and the library that is to hold it."""

    folder: Path
    client: Client

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    async def bring(self, project: str | None = None, *, as_memory: bool = False) -> Progress:
        return await asyncio.to_thread(
            lambda: [*bring(self.client, self.folder, NELE, project, as_memory=as_memory)][-1]
        )

    async def held(self) -> set[str]:
        return set(await asyncio.to_thread(self.client.library, self.folder.as_posix(), NELE))

    async def found(self, query: str) -> list[str]:
        answer = await asyncio.to_thread(self.client.recall, query, NELE)
        return [item["text"] for item in answer.items if item["document"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path.resolve() / "vault"
    made.mkdir()
    return made


@pytest.fixture
async def vault(database: Database, valkey: TestValkey, folder: Path) -> AsyncIterator[Vault]:
    settings = settings_for(database.dsn, valkey.url).model_copy(update={"accept_unenrolled": True})
    async with serving(settings) as app, on_a_socket(app) as url:
        yield Vault(folder, Client(url, token(SECRET.encode(), OPERATOR), timeout_s=60))
