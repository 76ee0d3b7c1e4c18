"""Runs one role as a child of `nextlevel up`, and ends it when `up` is gone, however it went.

    python -m nextlevel.ops.up.role MODULE NICENESS

Standard input is a pipe whose other end only `up` holds: its end-of-file is the one sign of a parent's death that Linux
and macOS share.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

STOP_WITHIN_S = 5.0


def main() -> None:
    module, niceness = sys.argv[1:]
    os.nice(int(niceness))
    threading.Thread(target=_end_with_parent, daemon=True, name="end-with-parent").start()
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    while os.read(0, 1):  # nobody writes; it blocks until the other end is closed
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_WITHIN_S)
    os._exit(1)


if __name__ == "__main__":
    main()
