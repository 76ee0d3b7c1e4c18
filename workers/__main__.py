"""`python -m nextlevel.workers`: one worker, or with `--only` some of its parts.

With `--isolated TENANT TURN` it takes that turn through, and ends.
"""

import argparse
import asyncio
import sys
from uuid import UUID

from nextlevel import log, settings
from nextlevel.errors import Misconfigured

from . import worker


def main() -> int:
    """Run the process; exit code 2 where it is set up wrongly."""
    parser = argparse.ArgumentParser(prog="nextlevel work", description=__doc__)
    parser.add_argument("--isolated", nargs=2, metavar=("TENANT", "TURN"), help="take one turn through, and end")
    parser.add_argument("--only", type=_parts, default=worker.PARTS, metavar="PART,…", help="run these parts only")
    arguments = parser.parse_args()
    try:
        loaded = settings.load()
        log.setup(loaded.log_level)
        if arguments.isolated:
            tenant, turn = arguments.isolated
            asyncio.run(worker.run_isolated(loaded, UUID(tenant), turn))
        else:
            asyncio.run(worker.run(loaded, only=arguments.only))
    except Misconfigured as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parts(text: str) -> tuple[str, ...]:
    wanted = tuple(part.strip() for part in text.split(","))
    if unknown := set(wanted) - set(worker.PARTS):
        raise argparse.ArgumentTypeError(
            f"no part is called {', '.join(sorted(unknown))}: choose of {', '.join(worker.PARTS)}"
        )
    return wanted


if __name__ == "__main__":
    sys.exit(main())
