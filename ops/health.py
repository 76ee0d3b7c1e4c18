"""`python -m nextlevel.ops.health serve|work`: does the role in this container live? Exit 0, else 1 with the reason.

`serve` answers on its port; `work` has said so in Redis within 15 s. Postgres and Redis have probes of their own.
"""

from __future__ import annotations

import asyncio
import socket
import sys

from nextlevel import redis_client
from nextlevel.client import Client
from nextlevel.errors import NextLevelError
from nextlevel.queue import inspect
from nextlevel.settings import Settings, load


def main() -> int:
    try:
        trouble = _PROBES[sys.argv[1]](load())
    except NextLevelError as error:
        trouble = str(error)
    if trouble:
        print(trouble, file=sys.stderr)
    return 1 if trouble else 0


def _serve(settings: Settings) -> str:
    url = f"http://127.0.0.1:{settings.serve_port}"
    return "" if Client(url).alive() else f"nobody answers at {url}"


def _work(settings: Settings) -> str:
    host = socket.gethostname()
    living = asyncio.run(_workers(settings, host))
    return "" if living else f"no worker of host {host} has given a sign of life within 15 s"


async def _workers(settings: Settings, host: str) -> dict[str, list[str]]:
    client = redis_client.connect(settings.need_redis())
    try:
        return await inspect.workers(client, host)
    finally:
        await client.aclose()


_PROBES = {"serve": _serve, "work": _work}


if __name__ == "__main__":
    sys.exit(main())
