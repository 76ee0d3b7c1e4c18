"""The plugin's door: Hermes imports this folder under a name of its own and calls `register`.

All else lies in the folder named below, put first on the path so that it is found whatever else the host has installed.
"""

import sys
from pathlib import Path

LIB = "@LIB@"


def register(ctx):  # type: ignore[no-untyped-def]
    """Hand the host a provider. Called for each agent; all is imported here and now, so that an upgrade can't mix."""
    lib = str(Path(__file__).parent / LIB)
    if lib not in sys.path:
        sys.path.insert(0, lib)
    from nextlevel.producers.hermes.provider import Provider

    ctx.register_memory_provider(Provider())
