"""`hermes nextlevel status`. Hermes also runs this file whenever it loads the plugin, so importing it does nothing."""

import sys
from pathlib import Path

LIB = "@LIB@"


def register_cli(subparser):  # type: ignore[no-untyped-def]
    """Add the commands to `hermes nextlevel`."""
    commands = subparser.add_subparsers(dest="nextlevel_command")
    commands.add_parser("status", help="what waits, what was delivered, the last error")
    subparser.set_defaults(func=nextlevel_command)


def nextlevel_command(args):  # type: ignore[no-untyped-def]
    """Print the state of this home's memory."""
    here = Path(__file__).resolve().parent
    lib = str(here / LIB)
    if lib not in sys.path:
        sys.path.insert(0, lib)
    from nextlevel.producers.hermes.status import lines

    print("\n".join(lines(here.parent.parent)))
