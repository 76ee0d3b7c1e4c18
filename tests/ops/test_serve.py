"""The serving process: up while its stores are down, and gone within seconds when told to."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import pytest

from tests.support.ports import free_port


def start(**environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "nextlevel.ops.serve"],
        env={"PATH": os.environ["PATH"], "HOME": "/tmp/no-such-home", **environment},
        stderr=subprocess.PIPE,
        text=True,
    )


async def answers(url: str) -> int:
    """The status that a URL answers with, once something listens there."""
    until = time.monotonic() + 60
    while True:
        try:
            return (await asyncio.to_thread(urllib.request.urlopen, url, timeout=5)).status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("asked_by", [signal.SIGTERM, signal.SIGINT])
async def test_it_serves_without_its_stores_and_stops_cleanly(tmp_path, asked_by):
    """A supervisor takes any other exit for a crash and starts it again."""
    port = free_port()
    process = start(
        NEXTLEVEL_DATA_DIR=str(tmp_path),
        NEXTLEVEL_POSTGRES_DSN=f"postgresql://nobody@127.0.0.1:{free_port()}/x",
        NEXTLEVEL_REDIS_URL=f"redis://127.0.0.1:{free_port()}/0",
        NEXTLEVEL_SERVE_PORT=str(port),
    )
    try:
        assert await answers(f"http://127.0.0.1:{port}/healthz") == 200
        assert await answers(f"http://127.0.0.1:{port}/readyz") == 503
        process.send_signal(asked_by)
        assert await asyncio.to_thread(process.wait, 10) == 0
    finally:
        process.kill()
        process.communicate()


async def test_without_any_store_configured_it_says_what_to_do(tmp_path):
    """One line with the cure, not a traceback."""
    process = start(NEXTLEVEL_DATA_DIR=str(tmp_path))
    _, said = await asyncio.to_thread(process.communicate)
    assert process.returncode == 2
    assert "nextlevel up" in said
    assert "Traceback" not in said


async def test_a_port_in_use_is_told_with_the_setting_that_moves_it(tmp_path):
    """The server's own words for it name neither, and its exit code would say "try again later"."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = start(
            NEXTLEVEL_DATA_DIR=str(tmp_path),
            NEXTLEVEL_POSTGRES_DSN="postgresql://nobody@127.0.0.1:1/x",
            NEXTLEVEL_REDIS_URL="redis://127.0.0.1:1/0",
            NEXTLEVEL_SERVE_PORT=str(port),
        )
        _, said = await asyncio.to_thread(process.communicate)
    assert process.returncode == 2
    assert said == (
        f"nextlevel serve: port {port} on 127.0.0.1 is in use: stop what listens there, or set NEXTLEVEL_SERVE_PORT\n"
    )
