"""Which project a person works on: the git repository around the working directory."""

from __future__ import annotations

import hashlib
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

_URL = re.compile(r"^\s*url\s*=\s*(?P<url>\S+)", re.MULTILINE)
_CREDENTIALS = re.compile(r"^(?P<scheme>\w+://)[^/@]*@")


def describe(directory: str | None = None) -> dict[str, Any]:
    """`cwd`, and inside a repository `project`: the `name` of its root and `remote`, a hash of its address if any."""
    if directory is None:
        try:
            directory = os.getcwd()
        except OSError:  # it was deleted under us
            return {}
    project = _repository(directory)
    return {"cwd": directory, **({"project": dict(project)} if project else {})}


@lru_cache(maxsize=256)
def _repository(directory: str) -> dict[str, str]:
    here = Path(directory)
    for root in (here, *here.parents):
        if (root / ".git").exists():
            remote = _remote(root / ".git" / "config")
            return {"name": root.name, **({"remote": remote} if remote else {})}
    return {}


def _remote(config: Path) -> str | None:
    try:
        found = _URL.search(config.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    if found is None:
        return None
    # Without credentials, which may be a token, and told as a hash: the address is nobody's business but equality's.
    address = _CREDENTIALS.sub(r"\g<scheme>", found["url"]).removesuffix("/").removesuffix(".git")
    return hashlib.sha256(address.encode()).hexdigest()[:12]
