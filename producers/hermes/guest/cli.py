"""`hermes nextlevel status|pause|resume`.

Hermes also runs this file whenever it loads the plugin, so importing it does nothing.
"""

import sys
from pathlib import Path

LIB = "@LIB@"


def register_cli(subparser):  # type: ignore[no-untyped-def]
    """Add the commands to `hermes nextlevel`."""
    commands = subparser.add_subparsers(dest="nextlevel_command")
    commands.add_parser("status", help="what waits, what was delivered, the last error")
    commands.add_parser("pause", help="remember nothing of what is said from now on, in this home")
    commands.add_parser("resume", help="remember again")
    subparser.set_defaults(func=nextlevel_command)


def nextlevel_command(args):  # type: ignore[no-untyped-def]
    """Print the state of this home's memory, or change whether it remembers."""
    here = Path(__file__).resolve().parent
    lib = str(here / LIB)
    if lib not in sys.path:
        sys.path.insert(0, lib)
    from nextlevel.producers.hermes import status

    home = here.parent.parent
    if args.nextlevel_command in ("pause", "resume"):
        print(status.pause(home, args.nextlevel_command == "pause"))
    else:
        print("\n".join(status.lines(home)))
