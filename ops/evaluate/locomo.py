"""Where LoCoMo lies: in the directory that LOCOMO names, else beside the checkout. Its licence keeps it out of here."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

from nextlevel.errors import UnusableFile

_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo"
_READER = "retrieval.py"


def directory() -> Path:
    """The directory with LoCoMo and its reader.

    Raises:
        UnusableFile: it is not there.
    """
    named = os.environ.get("LOCOMO")
    found = Path(named) if named else _BESIDE_THE_CHECKOUT
    if not (found / _READER).is_file():
        raise UnusableFile(
            f"no LoCoMo in {found} (its {_READER} is missing): set LOCOMO to its directory, "
            "or give --turns and --questions"
        )
    return found


def extract(what: Literal["turns", "questions"], to: Path) -> Path:
    """Let LoCoMo's own reader write its turns or questions into the directory `to`; the file that it wrote.

    Raises:
        UnusableFile: LoCoMo is not there, or its reader fails.
    """
    reader, file = directory() / _READER, to / f"{what}.jsonl"
    with file.open("wb") as out:
        done = subprocess.run([sys.executable, str(reader), what], stdout=out, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise UnusableFile(f"{reader} {what} failed: {' '.join(last)}")
    return file
