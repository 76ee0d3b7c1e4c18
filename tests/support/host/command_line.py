"""Runs in Hermes's own Python: its command line with these arguments, and the fake model behind it.

HERMES_HOME=… python command_line.py -z "hello"
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from agent_turns import SIDE, closed_network, configure
from fake_openai import FakeOpenAI

if __name__ == "__main__":
    closed_network()
    with FakeOpenAI(SIDE) as model:
        configure(Path(os.environ["HERMES_HOME"]), model.base_url, in_place=True)
        hermes = Path(sys.executable).with_name("hermes")
        code = subprocess.run([hermes, *sys.argv[1:]], stdin=subprocess.DEVNULL, check=False).returncode
    sys.exit(code)
