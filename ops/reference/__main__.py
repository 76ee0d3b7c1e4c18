"""`python -m nextlevel.ops.reference`, in the root of the checkout: write the pages that differ, and name them."""

from __future__ import annotations

import sys
from pathlib import Path

from . import pages


def main() -> int:
    for name, text in pages().items():
        path = Path(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"written: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
