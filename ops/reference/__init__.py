"""The reference pages, printed from the code they are about: `python -m nextlevel.ops.reference` writes them.

`make fix` does; a test compares, so a page can't say what is no longer so.
"""

from __future__ import annotations

from . import api, cli, errors, settings


def pages() -> dict[str, str]:
    """Each page's text by its path in the checkout."""
    return {
        "docs/reference/api.md": api.page(),
        "docs/reference/cli.md": cli.page(),
        "docs/reference/errors.md": errors.page(),
        "docs/reference/settings.md": settings.page(),
        ".env.example": settings.example(),
    }
